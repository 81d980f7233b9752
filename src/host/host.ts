// The one door to the machine: everything that touches time, chance, files, processes or the network
// goes through a Host, so that a run can be replayed from a seed and faults can be injected in tests.
// `realHost()` is the machine; `fakeHost()` is the same contract in memory.
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
