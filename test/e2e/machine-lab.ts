// What the tests on real machines share: the program itself, servers inside a cluster's network, certificates and keys,
// and a picture of the host to compare with later.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { TlsServerSettings } from './tls-server.ts';

export interface CliOutcome {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

const program = resolve('src/main.ts');

export function startCli(args: readonly string[]): {
  readonly child: ChildProcess;
  readonly outcome: Promise<CliOutcome>;
} {
  const child = spawn(process.execPath, [program, ...args], { stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  const text = { stdout: '', stderr: '' };
  child.stdout.on('data', (chunk: Buffer) => (text.stdout += chunk.toString('utf8')));
  child.stderr.on('data', (chunk: Buffer) => (text.stderr += chunk.toString('utf8')));
  const outcome = new Promise<CliOutcome>((done) => child.on('close', (code) => done({ code, ...text })));
  return { child, outcome };
}

/** Runs the program; its failure is the test's. */
export async function cli(...args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await startCli(args).outcome;
  if (code !== 0) throw new Error(`firstlight ${args.join(' ')} ended with ${code}\n${stdout}${stderr}`);
  return stdout;
}

export interface ListedMachine {
  readonly name: string;
  readonly address: string;
  readonly state: string;
  readonly detail: string;
}

export async function list(cluster: string): Promise<readonly ListedMachine[]> {
  return JSON.parse(await cli('machine', 'list', '--cluster', cluster, '-o', 'json')) as ListedMachine[];
}

/** What a shell command prints inside a machine. */
export async function inside(cluster: string, machine: string, script: string): Promise<string> {
  return cli('machine', 'exec', '--cluster', cluster, machine, '--', 'sh', '-c', script);
}

export async function eventually<T>(what: string, seconds: number, look: () => Promise<T | undefined>): Promise<T> {
  const endMs = performance.now() + seconds * 1000;
  for (;;) {
    const seen = await look();
    if (seen !== undefined) return seen;
    if (performance.now() > endMs) throw new Error(`${what} did not happen within ${seconds} s`);
    await new Promise((done) => setTimeout(done, 100));
  }
}

export function temporaryFolder(): string {
  return mkdtempSync(join(tmpdir(), 'firstlight-e2e-'));
}

export interface TestCa {
  readonly certificate: string;
  readonly issue: (name: string) => { readonly certificate: string; readonly key: string };
}

/** A certificate authority made by openssl, unrelated to our own code. */
export function makeCa(folder: string): TestCa {
  const path = (name: string): string => join(folder, name);
  const openssl = (...args: readonly string[]): void => void execFileSync('openssl', args, { stdio: 'ignore' });
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  openssl(
    'req',
    '-x509',
    ...newKey,
    '-keyout',
    path('ca.key'),
    '-out',
    path('ca.crt'),
    '-subj',
    '/CN=test',
    '-days',
    '2',
  );
  return {
    certificate: readFileSync(path('ca.crt'), 'utf8'),
    issue: (name) => {
      writeFileSync(path('leaf.ext'), `subjectAltName=DNS:${name}\n`);
      openssl('req', '-new', ...newKey, '-keyout', path('leaf.key'), '-out', path('leaf.csr'), '-subj', `/CN=${name}`);
      const sign = ['-CA', path('ca.crt'), '-CAkey', path('ca.key'), '-CAcreateserial', '-days', '2'];
      openssl('x509', '-req', '-in', path('leaf.csr'), ...sign, '-extfile', path('leaf.ext'), '-out', path('leaf.crt'));
      return { certificate: readFileSync(path('leaf.crt'), 'utf8'), key: readFileSync(path('leaf.key'), 'utf8') };
    },
  };
}

/** An SSH key pair without ssh-keygen: the host of the tests need not have it. */
export function makeSshKey(): { readonly publicKey: string; readonly privateKey: string } {
  const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const { x = '', y = '' } = pair.publicKey.export({ format: 'jwk' });
  const point = Buffer.concat([Buffer.of(4), Buffer.from(x, 'base64url'), Buffer.from(y, 'base64url')]);
  const field = (content: Buffer): Buffer => {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(content.length);
    return Buffer.concat([length, content]);
  };
  const blob = [Buffer.from('ecdsa-sha2-nistp256'), Buffer.from('nistp256'), point].map(field);
  return {
    publicKey: `ecdsa-sha2-nistp256 ${Buffer.concat(blob).toString('base64')} test`,
    privateKey: pair.privateKey.export({ type: 'sec1', format: 'pem' }),
  };
}

export interface TestServer {
  /** `SOURCE PATH` of every request so far. */
  readonly requests: () => readonly string[];
  readonly stop: () => void;
}

export async function serveTls(namespace: string, settings: TlsServerSettings): Promise<TestServer> {
  const script = resolve('test/e2e/tls-server.ts');
  const args = [`--net=/run/netns/${namespace}`, process.execPath, script, JSON.stringify(settings)];
  const child = spawn('nsenter', args, { stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString('utf8')));
  const lines = (): readonly string[] => output.split('\n').filter((line) => line !== '');
  await eventually('the start of a test server', 20, async () => (lines().includes('ready') ? true : undefined));
  return { requests: () => lines().filter((line) => line !== 'ready'), stop: () => void child.kill() };
}

/** Everything of the host that a cluster could leave a trace in. */
export function hostPicture(): Readonly<Record<string, readonly string[]>> {
  const run = (program: string, ...args: readonly string[]): readonly string[] => {
    const text = execFileSync(program, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
    return text.split('\n').filter((line) => line !== '');
  };
  const names = (folder: string): readonly string[] => (existsSync(folder) ? readdirSync(folder) : []);
  return {
    mounts: readFileSync('/proc/self/mountinfo', 'utf8')
      .split('\n')
      .map((line) => line.split(' ').slice(3, 6).join(' ')),
    namespaces: names('/run/netns'),
    namespaceFolder: existsSync('/run/netns') ? ['/run/netns'] : [],
    networkNamespaces: networkNamespaces(),
    links: run('ip', '-brief', 'link').map((line) => line.split(/\s+/)[0] ?? ''),
    routes: run('ip', 'route'),
    firewall: run('nft', 'list', 'ruleset'),
    // A host's init makes groups for its own sessions all the time; what machines and their nspawn make is recognised.
    cgroups: run('find', '/sys/fs/cgroup', '-type', 'd').filter((path) => /firstlight|payload|supervisor/.test(path)),
    // The first nspawn of a host makes the folders that are missing; what a machine has is inside them.
    nspawn: existsSync('/run/systemd/nspawn') ? run('find', '/run/systemd/nspawn', '-mindepth', '2') : [],
    state: existsSync('/var/lib/firstlight') ? run('find', '/var/lib/firstlight', '-maxdepth', '2') : [],
    processes: processes(),
  };
}

/** Command lines that have to do with machines. */
function processes(): readonly string[] {
  return pids().flatMap((pid) => {
    try {
      const line = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
      return /nspawn|haproxy|coredns|\/var\/lib\/firstlight/.test(line) ? [`${pid} ${line}`] : [];
    } catch {
      return [];
    }
  });
}

function networkNamespaces(): readonly string[] {
  const found = pids().flatMap((pid) => {
    try {
      return [readlinkSync(`/proc/${pid}/ns/net`)];
    } catch {
      return [];
    }
  });
  return [...new Set(found)];
}

function pids(): readonly string[] {
  return readdirSync('/proc').filter((name) => /^\d+$/.test(name));
}

/** What is in `after` and was not in `before`. */
export function traces(
  before: ReturnType<typeof hostPicture>,
  after: ReturnType<typeof hostPicture>,
): readonly string[] {
  return Object.entries(after).flatMap(([kind, entries]) => {
    const known = new Set(before[kind]);
    return entries.filter((entry) => !known.has(entry)).map((entry) => `${kind}: ${entry}`);
  });
}

/** The host's IDs of processes whose command line contains `text`. */
export function pidsOf(text: string): readonly number[] {
  return pids()
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').includes(text);
      } catch {
        return false;
      }
    })
    .map(Number)
    .filter((pid) => pid !== process.pid);
}
