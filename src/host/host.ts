// The only access to the machine: everything that uses time, chance, files, processes or the network goes through a
// Host, so that tests can replay a run from a seed and inject faults. `realHost()` is the machine; `fakeHost()` has the
// same contract in memory.
import type { Bus } from './bus.ts';
import type { Clock } from './clock.ts';
import type { Environment } from './environment.ts';
import type { Files } from './files.ts';
import type { Network } from './network.ts';
import type { Processes } from './processes.ts';
import type { Random } from './random.ts';

export interface Host {
  readonly files: Files;
  readonly processes: Processes;
  readonly network: Network;
  readonly bus: Bus;
  readonly clock: Clock;
  readonly random: Random;
  readonly environment: Environment;
}
