// The real machine: clock, randomness and environment here, the rest from the files beside.
import { randomBytes } from 'node:crypto';
import { availableParallelism, homedir, hostname, tmpdir, totalmem } from 'node:os';
import type { Clock } from '../clock.ts';
import type { Environment } from '../environment.ts';
import type { Host } from '../host.ts';
import type { KeptConnections, Network } from '../network.ts';
import type { Random } from '../random.ts';
import { realBus } from './bus.ts';
import { realFiles } from './files.ts';
import { realProcesses } from './processes.ts';

export function realHost(): Host {
  const environment = realEnvironment();
  return {
    files: realFiles(),
    processes: realProcesses(environment),
    network: lazyNetwork(),
    bus: realBus(),
    clock: realClock(),
    random: realRandom(),
    environment,
  };
}

/** Loads the network at its first use: TLS takes 25 ms to load, and most verbs open no connection. */
function lazyNetwork(): Network {
  const load = async (): Promise<Network> => (await import('./network.ts')).realNetwork();
  return {
    request: async (request) => (await load()).request(request),
    open: async (request) => (await load()).open(request),
    keepConnections: (options) => {
      let kept: Promise<KeptConnections> | undefined;
      const dial = (): Promise<KeptConnections> =>
        (kept ??= load().then((network) => network.keepConnections(options)));
      return {
        request: async (request) => (await dial()).request(request),
        open: async (request) => (await dial()).open(request),
        [Symbol.dispose]: () => void kept?.then((connections) => connections[Symbol.dispose]()),
      };
    },
    resolve: async (name) => (await load()).resolve(name),
    probe: async (host, port, timeoutMs) => (await load()).probe(host, port, timeoutMs),
    relay: async (host, port, signal) => (await load()).relay(host, port, signal),
    listen: async (options) => (await load()).listen(options),
  };
}

function realRandom(): Random {
  return { bytes: (count) => new Uint8Array(randomBytes(count)) };
}

function realEnvironment(): Environment {
  return {
    variables: { ...process.env },
    workingFolder: process.cwd(),
    homeFolder: homedir(),
    temporaryFolder: tmpdir(),
    hostname: hostname(),
    pid: process.pid,
    uid: process.getuid?.() ?? 0,
    architecture: process.arch,
    cpuCount: availableParallelism(),
    memoryBytes: totalmem(),
    nodePath: process.execPath,
    programPath: process.argv[1] ?? '',
  };
}

/** Timers are not unreferenced: a pending wait must keep the process alive. */
export function realClock(): Clock {
  return {
    now: () => new Date(),
    monotonicMs: () => performance.now(),
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        if (signal?.aborted) return reject(signal.reason as Error);
        const onAbort = (): void => {
          clearTimeout(timer);
          reject(signal?.reason as Error);
        };
        const timer = setTimeout(() => {
          signal?.removeEventListener('abort', onAbort);
          resolve();
        }, ms);
        signal?.addEventListener('abort', onAbort, { once: true });
      }),
    after: (ms, call) => {
      const timer = setTimeout(call, ms);
      return { [Symbol.dispose]: () => clearTimeout(timer) };
    },
  };
}
