// A master without a machine: a folder that stands for its root, an address on loopback of its own, and in place of a
// kubelet a watcher that runs the command of every pod manifest it finds. The agent and the programs are the real ones.
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdirSync, openSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parse as parseYaml } from 'yaml';
import { noIssuers } from '../../src/contract/authentication-settings.ts';
import { hardenedSettings } from '../../src/contract/security-settings.ts';
import type { Files } from '../../src/host/files.ts';
import type { Host } from '../../src/host/host.ts';
import type { HttpRequest } from '../../src/host/network.ts';
import { realHost } from '../../src/host/real/real-host.ts';
import { apiserverConfiguration } from '../../src/machine-software/apiserver-configuration.ts';
import { oracleProgram } from './programs.ts';

const real = realHost();

/** The same files, below a folder. */
function rootedFiles(root: string): Files {
  const at = (path: string): string => (path.startsWith(root) ? path : join(root, path));
  const { files } = real;
  return {
    ...files,
    read: (path) => files.read(at(path)),
    readText: (path) => files.readText(at(path)),
    readIfPresent: (path) => files.readIfPresent(at(path)),
    stream: (path) => files.stream(at(path)),
    write: (path, content, options) => files.write(at(path), content, options),
    openAppend: (path, options) => files.openAppend(at(path), options),
    makeFolder: (path, options) => files.makeFolder(at(path), options),
    list: (path) => files.list(at(path)),
    facts: (path) => files.facts(at(path)),
    symlink: (target, path) => files.symlink(target, at(path)),
    rename: (from, to) => files.rename(at(from), at(to)),
    setMode: (path, mode) => files.setMode(at(path), mode),
    setOwner: (path, owner) => files.setOwner(at(path), owner),
    remove: (path) => files.remove(at(path)),
    freeBytes: (path) => files.freeBytes(at(path)),
    watch: (folder, changed) => files.watch(at(folder), changed),
  };
}

export interface TestMachine extends AsyncDisposable {
  readonly host: Host;
  readonly root: string;
  readonly address: string;
  /** Programs that the agent ran, as command lines. */
  readonly commands: readonly string[];
  at(path: string): string;
  put(path: string, text: string): void;
  /** Starts what lies in the manifest folder and stops what does not, until disposed. */
  startKubelet(components: readonly string[]): void;
}

export function testMachine(root: string, address: string): TestMachine {
  const commands: string[] = [];
  const running = new Map<string, ChildProcess>();
  const end = new AbortController();
  let kubelet: Promise<void> = Promise.resolve();
  const at = (path: string): string => join(root, path);
  const put = (path: string, text: string): void => {
    mkdirSync(dirname(at(path)), { recursive: true });
    writeFileSync(at(path), text);
  };
  for (const { path, text } of apiserverConfiguration(hardenedSettings, noIssuers)) put(path, text);
  const routes = new Map<string, string>();
  /** As much of the kernel's routing as the agent asks for. */
  const ip = ([family, ...args]: readonly string[]): string => {
    if (args[1] === 'add' || args[1] === 'replace') routes.set(args[2] ?? '', args[4] ?? '');
    const shown = [...routes].map(([dst, gateway]) => ({ dst, gateway }));
    return JSON.stringify(args.includes('show') && family === '-4' ? shown : []);
  };
  const toOwnAddress = (request: HttpRequest): HttpRequest => {
    const { hostname, port } = new URL(request.url);
    return hostname === 'localhost' ? { ...request, connectTo: { host: address, port: Number(port) } } : request;
  };
  const host: Host = {
    ...real,
    files: rootedFiles(root),
    // "localhost" is this machine's own address here.
    network: {
      ...real.network,
      request: (request) => real.network.request(toOwnAddress(request)),
      keepConnections: (options) => {
        const kept = real.network.keepConnections(options);
        return { ...kept, request: (request) => kept.request(toOwnAddress(request)) };
      },
      probe: (name, port, timeoutMs) => real.network.probe(name === '127.0.0.1' ? address : name, port, timeoutMs),
    },
    processes: {
      ...real.processes,
      run: async (program, args) => {
        commands.push([program, ...args].join(' '));
        const stdout = program === 'ctr' ? (args.at(-1) ?? '') : program === 'ip' ? ip(args) : '';
        return { code: 0, signal: undefined, stdout, stderr: '', timedOut: false };
      },
    },
  };
  return {
    host,
    root,
    address,
    commands,
    at,
    put,
    startKubelet: (components) => {
      kubelet = runKubelet({ root, address, components, running, signal: end.signal });
    },
    [Symbol.asyncDispose]: async () => {
      end.abort();
      await kubelet;
      // An apiserver whose etcd is gone hangs in its shutdown: etcd last.
      for (const name of [...running.keys()].toSorted().reverse()) await kill(running, name);
    },
  };
}

interface KubeletParts {
  readonly root: string;
  readonly address: string;
  readonly components: readonly string[];
  readonly running: Map<string, ChildProcess>;
  readonly signal: AbortSignal;
}

async function runKubelet({ root, address, components, running, signal }: KubeletParts): Promise<void> {
  const folder = join(root, 'etc/kubernetes/manifests');
  while (!signal.aborted) {
    const present = existsSync(folder) ? readdirSync(folder).filter((name) => /^[^.].*-pod\.yaml$/.test(name)) : [];
    const wanted = new Set(
      present.map((name) => name.replace('-pod.yaml', '')).filter((name) => components.includes(name)),
    );
    for (const name of running.keys()) if (!wanted.has(name)) await kill(running, name);
    for (const name of wanted) {
      const child = running.get(name);
      if (child !== undefined && child.exitCode === null && child.signalCode === null) continue;
      running.set(name, startPod(readFileSync(join(folder, `${name}-pod.yaml`), 'utf8'), { root, address, name }));
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** The pod's own command, with its folders below the root and its loopback on the machine's address. */
export function startPod(
  text: string,
  { root, address, name }: { readonly root: string; readonly address: string; readonly name: string },
): ChildProcess {
  const pod = parseYaml(text) as { spec: { containers: [{ command: string[] }] } };
  const [program = '', ...args] = pod.spec.containers[0].command.map((argument) =>
    argument
      .replaceAll(/(\/etc\/kubernetes|\/var\/lib\/etcd|\/var\/log)/g, `${root}$1`)
      .replaceAll(/https:\/\/127\.0\.0\.1:2379,/g, '')
      .replaceAll('127.0.0.1', address),
  );
  // An API server refuses to announce an address of loopback; the last flag of a name counts.
  const more = name === 'kube-apiserver' ? [`--bind-address=${address}`, '--advertise-address=192.0.2.10'] : [];
  const log = openSync(join(root, `${name}.log`), 'a');
  return spawn(oracleProgram(program), [...args, ...more], { stdio: ['ignore', log, log] });
}

async function kill(running: Map<string, ChildProcess>, name: string): Promise<void> {
  const child = running.get(name);
  running.delete(name);
  if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const gone = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGKILL');
  await gone;
}
