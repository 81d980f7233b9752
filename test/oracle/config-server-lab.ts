// A config server as it runs on a bootstrap machine: its files in a folder, the real program, real sockets on loopback.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { get, type RequestOptions } from 'node:https';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { digestToken } from '../../src/admission/bootstrap-token.ts';
import { poolToken } from '../../src/admission/pool-token.ts';
import { encryptionConfigurationText, newEncryptionKey } from '../../src/contract/secrets-encryption.ts';
import { kubeconfigText } from '../../src/kubernetes/kubeconfig.ts';
import { baseMachineConfigs } from '../../src/machine-config/base-machine-configs.ts';
import type { MachineConfig } from '../../src/machine-config/machine-config.ts';
import { builtInPools } from '../../src/machine-config/pools.ts';
import { renderPool } from '../../src/machine-config/render.ts';
import { renderedFiles } from '../../src/machine-config/rendered-files.ts';
import { type Credential, issueLeaf, issueSigner } from '../../src/pki/issue.ts';
import { type SignerName, type SignerProfile, servedChain, signerProfiles } from '../../src/pki/profiles.ts';
import { sampleFacts } from './machine-config-sample.ts';
import { sampleRandom } from './pki-sample.ts';

const joinKey = Buffer.alloc(32, 7);
const oldKey = Buffer.alloc(32, 9);
const dayMs = 86_400_000;

export const tokens = {
  master: poolToken(joinKey, 'master'),
  worker: poolToken(joinKey, 'worker'),
  /** Of a join key that has ended. */
  expired: poolToken(oldKey, 'master'),
  wrong: poolToken(Buffer.alloc(32, 1), 'master'),
} as const;

export interface Lab extends Disposable {
  readonly folder: string;
  readonly rootCa: Credential;
  /** The places of the server's files, relative ones joined. */
  readonly at: (path: string) => string;
  readonly write: (path: string, content: string) => void;
  readonly pair: () => Credential;
}

export function makeLab(extra: readonly MachineConfig[] = []): Lab {
  const folder = mkdtempSync(join(tmpdir(), 'firstlight-config-server-'));
  const at = (path: string): string => join(folder, path);
  const write = (path: string, content: string): void => {
    mkdirSync(dirname(at(path)), { recursive: true });
    writeFileSync(at(path), content, { mode: 0o600 });
  };
  const options = { random: sampleRandom(folder), now: new Date() };
  const rootCa = issueSigner(signerProfiles['root-ca'], options);
  const made = Object.entries(signerProfiles).map(([name, profile]: [string, SignerProfile]) => [
    name,
    name === 'root-ca' ? rootCa : issueSigner(profile, options, profile.signedBy === undefined ? undefined : rootCa),
  ]);
  const signers = Object.fromEntries(made) as Record<SignerName, Credential>;
  const pair = (): Credential => {
    const signer = signers['config-server-signer'];
    const issued = issueLeaf(
      {
        subject: { commonName: 'machine-config-server', organizations: [] },
        dnsNames: ['localhost', 'api-int.demo.firstlight.test'],
        ipAddresses: ['127.0.0.1'],
        purpose: 'server',
        validityDays: 30,
      },
      signer,
      options,
    );
    const certificatePem = servedChain('machine-config-server', issued.certificatePem, signer.certificatePem);
    return { ...issued, certificatePem };
  };
  for (const [name, credential] of [...Object.entries(signers), ['machine-config-server', pair()] as const]) {
    write(`tls/${name}.crt`, credential.certificatePem);
    if (name !== 'root-ca') write(`tls/${name}.key`, credential.key.privatePem.reveal());
  }
  write('tls/service-account.key', signers['kubelet-signer'].key.privatePem.reveal());
  write('tls/service-account.pub', signers['kubelet-signer'].key.publicPem);
  write('tls/secrets-encryption.json', encryptionConfigurationText([newEncryptionKey(options.random, options.now)]));
  const kubeconfig = {
    cluster: 'demo',
    server: 'https://api-int.demo.firstlight.test:6443',
    user: 'kubelet-bootstrap',
  };
  write('kubeconfig', kubeconfigText({ ...kubeconfig, caPem: signers['apiserver-serving-signer'].certificatePem }));
  write('pool-tokens.json', JSON.stringify(poolTokens()));
  const machineConfigs = [...baseMachineConfigs(sampleFacts, 'test'), ...extra];
  for (const pool of builtInPools) {
    for (const file of renderedFiles(pool, renderPool(pool, machineConfigs, { generatedBy: 'test' }))) {
      write(join('rendered', file.path), file.text);
    }
  }
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  return { folder, rootCa: signers['root-ca'], at, write, pair, [Symbol.dispose]: remove };
}

function poolTokens(): object {
  const until = (days: number): string => new Date(Date.now() + days * dayMs).toISOString();
  const digests = (pool: string): object[] => [
    { sha256: digestToken(poolToken(joinKey, pool)), notAfter: until(300) },
    { sha256: digestToken(poolToken(oldKey, pool)), notAfter: until(-1) },
  ];
  return { master: digests('master'), worker: digests('worker') };
}

export interface LabServer {
  readonly port: number;
  readonly localPort: number;
  readonly process: ChildProcess;
  /** Every line of the log so far. */
  readonly log: () => readonly Record<string, unknown>[];
  readonly logText: () => string;
  /** Resolves with the first line that fits; fails after five seconds. */
  readonly logged: (fits: (line: Record<string, unknown>) => boolean) => Promise<Record<string, unknown>>;
  readonly stop: () => Promise<number | null>;
}

let nextLocalPort = 20_000 + (process.pid % 9_000);

export function serveArguments(lab: Lab, localPort: number): readonly string[] {
  const options = {
    'log-level': 'debug',
    address: '127.0.0.1',
    port: '0',
    'local-port': String(localPort),
    rendered: lab.at('rendered'),
    'pool-tokens': lab.at('pool-tokens.json'),
    kubeconfig: lab.at('kubeconfig'),
    pki: lab.at('tls'),
    'token-ledger': lab.at('served/tokens'),
    settings: lab.at('settings.json'),
  };
  return ['machine-config', 'serve', ...Object.entries(options).flatMap(([name, value]) => [`--${name}`, value])];
}

export async function startServer(lab: Lab, args: readonly string[] = []): Promise<LabServer> {
  const localPort = nextLocalPort++;
  const main = new URL('../../src/main.ts', import.meta.url).pathname;
  const child = spawn(process.execPath, [main, ...serveArguments(lab, localPort), ...args], {
    stdio: ['ignore', 'ignore', 'pipe'],
    cwd: lab.folder,
  });
  let text = '';
  let heard = Promise.withResolvers<void>();
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
    heard.resolve();
    heard = Promise.withResolvers<void>();
  });
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  const log = (): Record<string, unknown>[] =>
    text
      .split('\n')
      .slice(0, -1)
      .flatMap((line) => (line.startsWith('{') ? [JSON.parse(line) as Record<string, unknown>] : []));
  const logged: LabServer['logged'] = async (fits) => {
    const late = Promise.withResolvers<never>();
    const timer = setTimeout(() => late.reject(new Error(`no such line in the log:\n${text}`)), 8_000);
    try {
      for (;;) {
        const found = log().find(fits);
        if (found !== undefined) return found;
        await Promise.race([heard.promise, late.promise]);
      }
    } finally {
      clearTimeout(timer);
    }
  };
  const started = logged((line) => String(line['text']).startsWith('serving on port'));
  const first = await Promise.race([started, ended.then((code) => ({ code }))]);
  if (!('port' in first)) throw new Error(`the server ended at its start: ${text}`);
  return {
    port: Number(first['port']),
    localPort,
    process: child,
    log,
    logText: () => text,
    logged,
    stop: () => {
      child.kill('SIGTERM');
      return ended;
    },
  };
}

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

export function ask(
  lab: Lab,
  server: Pick<LabServer, 'port'>,
  path: string,
  options: RequestOptions = {},
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const request = get(
      { host: '127.0.0.1', port: server.port, path, ca: lab.rootCa.certificatePem, agent: false, ...options },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            body: Buffer.concat(chunks).toString(),
          }),
        );
      },
    );
    request.on('error', reject);
  });
}

export function bearer(token: string): { readonly headers: Record<string, string> } {
  return { headers: { authorization: `Bearer ${token}` } };
}

export function readLedger(lab: Lab): readonly Record<string, string>[] {
  return readFileSync(lab.at('served/tokens'), 'utf8')
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Record<string, string>);
}
