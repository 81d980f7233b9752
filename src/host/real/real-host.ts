// The machine we run on, assembled. The only place where the real doors are opened.
import type { Host } from '../host.ts';
import { realClock } from './clock.ts';
import { realEnvironment } from './environment.ts';
import { realFiles } from './files.ts';
import { realNetwork } from './network.ts';
import { realProcesses } from './processes.ts';
import { realRandom } from './random.ts';

export function realHost(): Host {
  const environment = realEnvironment();
  return {
    files: realFiles(),
    processes: realProcesses(environment),
    network: realNetwork(),
    clock: realClock(),
    random: realRandom(),
    environment,
  };
}
