// The machine we run on, assembled. The only place where the real doors are opened.
import type { Host } from '../host.ts';
import type { KeptConnections, Network } from '../network.ts';
import { realBus } from './bus.ts';
import { realClock } from './clock.ts';
import { realEnvironment } from './environment.ts';
import { realFiles } from './files.ts';
import { realProcesses } from './processes.ts';
import { realRandom } from './random.ts';

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

/** TLS costs 25 ms to load; most verbs never open a connection. */
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
    listen: async (options) => (await load()).listen(options),
  };
}
