// `firstlight machine-config serve`: runs until it is asked to stop. Its log goes to stderr, one JSON line per answer.
import { join } from 'node:path';
import { z } from 'zod';
import type { Host } from '../host/host.ts';
import { startConfigServer } from '../config-server/config-server.ts';
import type { ConfigSource } from '../config-server/config-source.ts';
import { openFileSource } from '../config-server/file-source.ts';
import type { AccessMode } from '../config-server/handler.ts';
import type { Log } from '../config-server/server-log.ts';
import { type ConfigServerSettings, readServerSettings } from '../config-server/settings.ts';
import type { TokenIssuer } from '../config-server/token-issuer.ts';
import { openTokenLedger } from '../config-server/token-ledger.ts';
import type { CommandBody, CommandResult } from './command.ts';
import { openServerLog } from './server-log-lines.ts';

const portNumber = z.coerce.number().int().min(0).max(65_535);
const options = z.looseObject({
  mode: z.enum(['bootstrap', 'cluster']),
  apiKubeconfig: z.string().optional(),
  settings: z.string(),
  rendered: z.string(),
  poolTokens: z.string(),
  kubeconfig: z.string(),
  proxyCredentials: z.string(),
  pullSecret: z.string(),
  pki: z.string(),
  tokenLedger: z.string(),
  address: z.string(),
  port: portNumber,
  localPort: portNumber,
  balancer: z.array(z.union([z.ipv4(), z.ipv6()])).default([]),
  open: z.boolean().default(false),
  staticPod: z.string().min(1).optional(),
});

type Options = z.output<typeof options>;

/** For requests under way. */
const graceMs = 5_000;

export const machineConfigServe: CommandBody = async (invocation) => {
  const { host, signal } = invocation;
  const given = options.parse(invocation.options);
  if (given.staticPod !== undefined) return printStaticPod(given.staticPod);
  const settings = await readServerSettings(host.files, given.settings);
  using opened = openServerLog(invocation);
  const { log } = opened;
  const access = given.open ? 'open' : settings.access;
  await using parts = new AsyncDisposableStack();
  const isCluster = given.mode === 'cluster';
  const open = isCluster ? (await import('./serve-cluster-configs.ts')).openCluster : openBootstrap;
  const { source, issuer, balancers } = await open(host, { given, settings, access, log, parts });
  const server = await startConfigServer(host, {
    access,
    address: given.address,
    port: given.port,
    localPort: given.localPort,
    balancers: [...settings.balancers, ...given.balancer, ...balancers],
    certificatePath: join(given.pki, 'machine-config-server.crt'),
    keyPath: join(given.pki, 'machine-config-server.key'),
    keysFolder: given.pki,
    source,
    issuer,
    log,
  });
  const asked = Promise.withResolvers<void>();
  if (signal.aborted) asked.resolve();
  signal.addEventListener('abort', () => asked.resolve(), { once: true });
  await asked.promise;
  await server.stop({ leaveMs: settings.leaveMs, graceMs });
  // To be asked to stop is how a server ends, not a failure.
  return { data: { port: server.port }, text: '' };
};

async function printStaticPod(image: string): Promise<CommandResult> {
  const { machineConfigServerPod } = await import('../config-server/static-pod.ts');
  const { toYaml } = await import('../kubernetes/yaml.ts');
  const pod = machineConfigServerPod({ image });
  return { data: pod, text: toYaml(pod) };
}

export interface OpenedParts {
  readonly source: ConfigSource;
  readonly issuer: TokenIssuer;
  /** Besides those that were given. */
  readonly balancers: readonly string[];
}

export interface Opening {
  readonly given: Options;
  readonly settings: ConfigServerSettings;
  readonly access: AccessMode;
  readonly log: Log;
  /** Ends what was opened. */
  readonly parts: AsyncDisposableStack;
}

async function openBootstrap(host: Host, { given, settings, log, parts }: Opening): Promise<OpenedParts> {
  const issuer = parts.use(await openTokenLedger(host, { path: given.tokenLedger, limit: settings.outstandingTokens }));
  const source = parts.use(
    await openFileSource(host, {
      renderedFolder: given.rendered,
      poolTokensPath: given.poolTokens,
      kubeconfigPath: given.kubeconfig,
      proxyCredentialsPath: given.proxyCredentials,
      pullSecretPath: given.pullSecret,
      pkiFolder: given.pki,
      onProblem: (problem) => log({ level: 'warn', text: problem, fields: {} }),
    }),
  );
  return { source, issuer, balancers: [] };
}
