// A node in a folder, with a bucket, an API server and a bus around it, and the program run on it through its own
// command line. The default: OS 1520.5.0, Kubernetes v1.8.4 by the installer, 17.03 preferred to 1.12, no kubeconfig.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { runCli } from '../../../src/cli/frame/run.ts';
import type { Host } from '../../../src/host/host.ts';
import { realHost } from '../../../src/host/real/real-host.ts';
import { type Gnupg, openGnupg } from './gnupg.ts';
import { type Identities, makeIdentities } from './identities.ts';
import { type PrivateBus, startPrivateBus } from './private-bus.ts';
import { type FaultyServer, startServer } from './servers.ts';

export interface Suite extends AsyncDisposable {
  readonly bus: PrivateBus;
  readonly bucket: FaultyServer;
  readonly api: FaultyServer;
  readonly gnupg: Gnupg;
  readonly key: string;
  readonly identities: Identities;
}

export async function openSuite(): Promise<Suite> {
  const identities = makeIdentities();
  const [bus, bucket, api] = await Promise.all([
    startPrivateBus(),
    startServer(identities.server),
    startServer(identities.server, true),
  ]);
  const gnupg = openGnupg();
  return {
    bus,
    bucket,
    api,
    gnupg,
    identities,
    key: gnupg.makeKey('publisher', { algorithm: 'rsa2048' }),
    [Symbol.asyncDispose]: async () => {
      gnupg[Symbol.dispose]();
      await Promise.all([bus, bucket, api].map((part) => part[Symbol.asyncDispose]()));
    },
  };
}

export interface Result {
  readonly exit: number;
  readonly out: string;
  readonly err: string;
}

export interface World extends Disposable {
  readonly root: string;
  put(path: string, content: string | Uint8Array): void;
  read(path: string): string;
  has(path: string): boolean;
  /** Every file under a folder of the node, relative to it, sorted. */
  tree(path: string): readonly string[];
  readonly args: readonly string[];
  readonly variables: Readonly<Record<string, string>>;
  bootstrap(...flags: string[]): Promise<Result>;
  hook(...flags: string[]): Promise<Result>;
  run(argv: readonly string[], options?: RunOptions): Promise<Result>;
}

export interface RunOptions {
  readonly variables?: Readonly<Record<string, string>>;
  readonly changeHost?: (host: Host) => Host;
}

/** In memory where there is such a place: every write is synced, and what a disk adds to that is not a test's subject. */
const memory = existsSync('/dev/shm') ? '/dev/shm' : '/tmp';

export async function makeWorld(suite: Suite, folder = memory): Promise<World> {
  const root = mkdtempSync(join(folder, 'flnode-'));
  const at = (path: string): string => join(root, path);
  const put = (path: string, content: string | Uint8Array): void => {
    mkdirSync(dirname(at(path)), { recursive: true });
    writeFileSync(at(path), content);
  };
  put(
    '/usr/lib/os-release',
    'ID=coreos\nVERSION=1520.5.0+2017-10-10-0000\nVERSION_ID=1520.5.0\nCOREOS_BOARD="amd64-usr"\n',
  );
  put('/etc/kubernetes/installer/kubelet.env', installerEnv);
  put('/etc/kubernetes/installer/runtime-mappings.yaml', mappings({ '1.8': ['17.03', '1.12'] }));
  put('/pubring.gpg', suite.gnupg.exportArmored(suite.key));
  put('/etc/ssl/certs/ca-certificates.crt', suite.identities.server.ca);
  suite.bucket.replies = new Map();
  suite.api.replies = new Map();
  suite.bucket.requests.length = 0;
  suite.api.requests.length = 0;
  await suite.bus.become({});
  const args = [
    `--root=${root}`,
    `--torcx-manifest-url=${suite.bucket.url}/manifests/{{.Board}}/{{.OSVersion}}/torcx_manifest.json`,
    '--pause-scale=0.001',
    '--api-timeout=2',
    '--bucket-timeout=2',
  ];
  const variables = { DBUS_SYSTEM_BUS_ADDRESS: suite.bus.address };
  const run = (argv: readonly string[], options?: RunOptions): Promise<Result> =>
    runProgram(suite, argv, { variables, options });
  return {
    root,
    put,
    args,
    variables,
    read: (path) => readFileSync(at(path), 'utf8'),
    has: (path) => existsSync(at(path)),
    tree: (path) => (existsSync(at(path)) ? filesUnder(at(path)) : []),
    bootstrap: (...flags) => run(['torcx', 'bootstrap', ...args, '--reboot-deadline=5', ...flags]),
    hook: (...flags) => run(['torcx', 'hook-pre', ...args, ...flags]),
    run,
    [Symbol.dispose]: () => rmSync(root, { recursive: true, force: true }),
  };
}

interface ProgramOptions {
  readonly variables: Readonly<Record<string, string>>;
  readonly options: RunOptions | undefined;
}

/** The program in this process, on the real machine; asked to stop a moment after systemd accepted the reboot. */
async function runProgram(suite: Suite, argv: readonly string[], program: ProgramOptions): Promise<Result> {
  const interrupt = new AbortController();
  suite.bus.onCall = ({ call }) => {
    if (call === 'StartUnit') setTimeout(() => interrupt.abort('SIGTERM'), 60);
  };
  let [out, err] = ['', ''];
  const host = realHost();
  const variables = { ...host.environment.variables, ...program.variables, ...program.options?.variables };
  const here = { ...host, environment: { ...host.environment, variables } };
  const exit = await runCli({
    argv,
    loadHost: async () => program.options?.changeHost?.(here) ?? here,
    interrupt: interrupt.signal,
    terminal: {
      out: (text) => void (out += text),
      err: (text) => void (err += text),
      draw: () => {},
      outContent: (content) => void (out += content),
      outIsTerminal: false,
      errIsTerminal: false,
      inIsTerminal: false,
      hasColors: false,
      columns: () => 100,
      rows: () => 24,
      canDraw: false,
      ask: async () => undefined,
    },
  });
  suite.bus.onCall = () => {};
  return { exit, out, err };
}

export const installerEnv = 'KUBELET_IMAGE_URL="quay.io/coreos/hyperkube"\nKUBELET_IMAGE_TAG="v1.8.4_coreos.0"\n';

export function mappings(minors: Readonly<Record<string, readonly string[]>>): string {
  const entries = Object.entries(minors).map(
    ([minor, versions]) => `    ${minor}:\n      docker: ${JSON.stringify(versions)}\n`,
  );
  return `kind: VersionManifestV1\nversions:\n  k8s:\n${entries.join('')}`;
}

export interface Offer {
  readonly version: string;
  /** Content of the archive; its hash goes into the list. */
  readonly image: Uint8Array | string;
  readonly paths?: readonly string[];
  /** Default: one URL that serves the image. */
  readonly urls?: readonly string[];
}

/** Publishes a signed package list for one OS version, and its images. */
export function publish(
  suite: Suite,
  osVersion: string,
  offers: readonly Offer[],
  options: PublishOptions = {},
): string {
  const versions = offers.map(({ version, image, paths = [], urls }) => {
    const path = `/images/docker:${version}.torcx.tgz`;
    suite.bucket.replies.set(path, [{ body: image }]);
    const links = urls ?? (paths.length > 0 ? [] : [`${suite.bucket.url}${path}`]);
    const locations = [...paths.map((entry) => ({ path: entry })), ...links.map((url) => ({ url }))];
    return {
      version,
      hash: `sha512-${createHash('sha512').update(image).digest('hex')}`,
      casDigest: osVersion,
      locations,
    };
  });
  const packages = [{ name: 'docker', defaultVersion: offers[0]?.version, versions }];
  const value = { ...options.subject, packages };
  const list = JSON.stringify({ kind: 'torcx-package-list-v0', value });
  const path = `/manifests/amd64-usr/${osVersion}/torcx_manifest.json`;
  const signature = options.sign?.(list) ?? suite.gnupg.sign(suite.key, list);
  suite.bucket.replies.set(path, [{ body: list }]).set(`${path}.asc`, [{ body: signature }]);
  return path;
}

export interface PublishOptions {
  readonly sign?: (list: string) => string;
  /** What the list says it is for; the lists of the original publisher say nothing. */
  readonly subject?: { readonly board: string; readonly osVersion: string };
}

/** Puts a kubeconfig on the node in the installer's form: no current-context, no name on anything. */
export function useApi(suite: Suite, world: World, server = suite.api.url): void {
  const base64 = (text: string): string => Buffer.from(text).toString('base64');
  const { client, server: ours } = suite.identities;
  world.put(
    '/etc/kubernetes/kubeconfig',
    `apiVersion: v1
kind: Config
clusters:
- cluster:
    server: ${server}
    certificate-authority-data: ${base64(ours.ca)}
users:
- user:
    client-certificate-data: ${base64(client.cert)}
    client-key-data: ${base64(client.key)}
contexts:
- context: {}
`,
  );
}

export const configMapPath = '/api/v1/namespaces/tectonic-system/configmaps/tectonic-torcx-runtime-mappings';

export function configMap(text: string): string {
  return JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: {}, data: { 'runtime-mappings.yaml': text } });
}

export const json = { 'content-type': 'application/json' };

function filesUnder(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .sort();
}
