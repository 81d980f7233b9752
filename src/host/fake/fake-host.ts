// A host in memory with the contract of the real one, driven by a seed. Programs and connections that a test did not
// define fail, so that a test never passes because of an invented answer.
import type { Bus } from '../bus.ts';
import type { Environment } from '../environment.ts';
import { hostErrors } from '../errors.ts';
import type { Host } from '../host.ts';
import type { Network } from '../network.ts';
import type { Processes } from '../processes.ts';
import { type FakeClock, fakeClock } from './fake-clock.ts';
import { type FakeDisk, fakeDisk, fakeFiles } from './fake-files.ts';
import { seededRandom } from './fake-random.ts';

export interface FakeHost extends Host {
  readonly disk: FakeDisk;
  readonly clock: FakeClock;
}

export interface FakeHostOptions {
  readonly seed?: string;
  readonly start?: string;
  /** The disk of an earlier host, for a machine that starts again after a crash. */
  readonly disk?: FakeDisk;
  readonly environment?: Partial<Environment>;
  readonly processes?: Partial<Processes>;
  readonly network?: Partial<Network>;
  readonly bus?: Bus;
}

export function fakeHost(options: FakeHostOptions = {}): FakeHost {
  const disk = options.disk ?? fakeDisk();
  return {
    disk,
    files: fakeFiles(disk),
    clock: fakeClock(options.start ?? '2026-01-01T00:00:00Z'),
    random: seededRandom(options.seed ?? 'firstlight'),
    environment: { ...environment, ...options.environment },
    processes: { ...noProcesses, ...options.processes },
    network: { ...noNetwork, ...options.network },
    bus: options.bus ?? noBus,
  };
}

const environment: Environment = {
  variables: {},
  workingFolder: '/home/core',
  homeFolder: '/home/core',
  temporaryFolder: '/tmp',
  hostname: 'workstation',
  pid: 1,
  uid: 0,
  architecture: 'x64',
  cpuCount: 2,
  memoryBytes: 2 ** 34,
  nodePath: '/usr/bin/node',
  programPath: '/usr/bin/firstlight',
};

const noProgram = async (program: string): Promise<never> => {
  throw hostErrors.PROGRAM_MISSING({ program });
};

const noBus: Bus = {
  connect: async ({ address }) => {
    const errorName = 'org.freedesktop.DBus.Error.NoServer';
    throw hostErrors.BUS({ target: address, errorName, reason: 'there is no bus' });
  },
};

const noProcesses: Processes = {
  run: noProgram,
  runInteractive: noProgram,
  startDetached: noProgram,
  find: async () => undefined,
  kill: () => false,
  isAlive: () => false,
};

const noAnswer = async (target: string): Promise<never> => {
  throw hostErrors.NETWORK({ target, failure: 'refused', reason: 'connection refused' });
};

const noNetwork: Network = {
  request: (request) => noAnswer(request.url),
  open: (request) => noAnswer(request.url),
  keepConnections: () => ({
    request: (request) => noAnswer(request.url),
    open: (request) => noAnswer(request.url),
    [Symbol.dispose]: () => undefined,
  }),
  resolve: noAnswer,
  probe: (host, port) => noAnswer(`${host}:${port}`),
  relay: (host, port) => noAnswer(`${host}:${port}`),
  listen: async ({ address, port }) => {
    throw hostErrors.LISTEN({ address, port, reason: 'this machine has no network' });
  },
};
