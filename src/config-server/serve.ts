// The config server as a program: opens what it serves from, its tokens and its log, and serves until it is aborted. A
// bootstrap machine serves from files, a master from the API; the rest is the same.
import { join } from 'node:path';
import { type ConfigServerSettings, readServerSettings } from '../contract/config-server-settings.ts';
import { type Inventory, readInventory } from '../contract/inventory.ts';
import type { Host } from '../host/host.ts';
import { runConfigServer } from './config-server.ts';
import type { ConfigSource } from './config-source.ts';
import { openFileSource } from './file-source.ts';
import type { AccessMode } from './handler.ts';
import type { InPlaceService } from './in-place-service.ts';
import { type Log, type ServerLogOptions, serverLog } from './server-log.ts';
import type { TokenIssuer } from './token-issuer.ts';
import { openTokenLedger } from './token-ledger.ts';

export interface ServeOptions {
  readonly mode: 'bootstrap' | 'cluster';
  /** For `cluster`, instead of the identity that this master made for its config server. */
  readonly apiKubeconfigPath: string | undefined;
  readonly settingsPath: string;
  readonly renderedFolder: string;
  readonly poolTokensPath: string;
  readonly kubeconfigPath: string;
  readonly proxyCredentialsPath: string;
  readonly pullSecretPath: string;
  readonly pkiFolder: string;
  readonly tokenLedgerPath: string;
  /** For `bootstrap`: the machines that are expected. */
  readonly inventoryPath: string;
  readonly address: string;
  readonly port: number;
  readonly localPort: number;
  /** Besides those of the settings. */
  readonly balancers: readonly string[];
  /** Serve every client, also where the settings say `token`. */
  readonly isOpen: boolean;
  /** The program and its version, for an annotation of rendered configs. */
  readonly generatedBy: string;
  readonly log: ServerLogOptions;
  readonly signal: AbortSignal;
}

/** Returns once `signal` is aborted and the server is closed. */
export async function serveConfigs(host: Host, options: ServeOptions): Promise<{ readonly port: number }> {
  const { mode, pkiFolder } = options;
  const settings = await readServerSettings(host.files, options.settingsPath);
  const log = serverLog(host.clock, options.log);
  const access = options.isOpen ? 'open' : settings.access;
  await using parts = new AsyncDisposableStack();
  const open = mode === 'cluster' ? (await import('./open-cluster.ts')).openCluster : openBootstrap;
  const { source, issuer, balancers, inPlace } = await open(host, { options, settings, access, log, parts });
  const served = {
    access,
    address: options.address,
    port: options.port,
    localPort: options.localPort,
    balancers: [...settings.balancers, ...options.balancers, ...balancers],
    certificatePath: join(pkiFolder, 'machine-config-server.crt'),
    keyPath: join(pkiFolder, 'machine-config-server.key'),
    keysFolder: pkiFolder,
    leaveMs: settings.leaveMs,
    source,
    issuer,
    log,
    ...(inPlace === undefined ? {} : { inPlace }),
  };
  // Awaited here: the parts are closed after the server.
  return await runConfigServer(host, served, options.signal);
}

export interface OpenedParts {
  readonly source: ConfigSource;
  readonly issuer: TokenIssuer;
  /** Besides those that were given. */
  readonly balancers: readonly string[];
  readonly inPlace?: InPlaceService;
}

export interface Opening {
  readonly options: ServeOptions;
  readonly settings: ConfigServerSettings;
  readonly access: AccessMode;
  readonly log: Log;
  /** Closes what was opened. */
  readonly parts: AsyncDisposableStack;
}

/** Without the file any machine may be a master; a file that cannot be read names none. */
async function expectedMachines({ files }: Host, path: string): Promise<Inventory> {
  const content = await files.readIfPresent(path);
  if (content === undefined) return { isClosed: false, machines: [] };
  return readInventory(Buffer.from(content).toString('utf8')) ?? { isClosed: true, machines: [] };
}

async function openBootstrap(host: Host, { options, settings, log, parts }: Opening): Promise<OpenedParts> {
  const { tokenLedgerPath: path } = options;
  const inventory = await expectedMachines(host, options.inventoryPath);
  const issuer = parts.use(await openTokenLedger(host, { path, inventory, limit: settings.outstandingTokens }));
  const onProblem = (problem: string): void => log({ level: 'warn', text: problem, fields: {} });
  const source = parts.use(await openFileSource(host, { ...options, onProblem }));
  return { source, issuer, balancers: [] };
}
