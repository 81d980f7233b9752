// Runs in a machine: looks at everything that keeps machines from joining, all at once, each look with a short limit of
// its own. It changes nothing that anybody would notice and asks for nothing that is given only once.
import { hostErrors } from '../../host/errors.ts';
import type { Host } from '../../host/host.ts';
import type { InsideFacts } from './inside-facts.ts';
import { lookAtDisks } from './look-at-disks.ts';
import { lookAtImages } from './look-at-images.ts';
import { askAsPointed } from './look-at-pointer.ts';
import { lookAtUnits } from './look-at-units.ts';
import { attempt, troubleOf } from './trouble.ts';

export interface LookInside {
  /** Names that this machine must be able to resolve. */
  readonly names: readonly string[];
  /** Where the load balancer is. */
  readonly balancer: string;
  readonly ports: readonly number[];
}

/** A resolver gives up after two tries of five seconds; nobody should wait for all of that. */
const lookupMs = 6_000;
const connectMs = 3_000;

export async function lookInside(host: Host, { names, balancer, ports }: LookInside): Promise<InsideFacts> {
  const [nameServers, looked, reached, serving, pointer, disks, images, units] = await Promise.all([
    readNameServers(host),
    Promise.all(names.map((name) => lookUp(host, name))),
    Promise.all(
      ports.map(async (port) => ({ port, ...(await attempt(host.network.probe(balancer, port, connectMs))) })),
    ),
    Promise.all(ports.map((port) => attempt(host.network.probe('127.0.0.1', port, connectMs)))),
    askAsPointed(host, balancer),
    lookAtDisks(host),
    lookAtImages(host),
    lookAtUnits(host),
  ]);
  return {
    now: host.clock.now().toISOString(),
    nameServers: [...nameServers],
    names: looked,
    ports: reached,
    serves: ports.filter((_port, index) => serving[index]?.failure === undefined),
    ...(pointer === undefined ? {} : { pointer }),
    disks: [...disks],
    ...(images === undefined ? {} : { images }),
    units: [...units],
  };
}

async function lookUp(host: Host, name: string): Promise<InsideFacts['names'][number]> {
  const over = new AbortController();
  const tooLong = host.clock.sleep(lookupMs, over.signal).then((): never => {
    throw hostErrors.NETWORK({ target: name, failure: 'timeout', reason: 'the name server does not answer' });
  });
  try {
    return { name, addresses: [...(await Promise.race([host.network.resolve(name), tooLong]))] };
  } catch (error) {
    return { name, addresses: [], ...troubleOf(error) };
  } finally {
    over.abort(new Error('the look is over'));
    await tooLong.catch(() => {});
  }
}

async function readNameServers(host: Host): Promise<readonly string[]> {
  const content = await host.files.readIfPresent('/etc/resolv.conf').catch(() => undefined);
  const text = Buffer.from(content ?? new Uint8Array()).toString('utf8');
  return [...text.matchAll(/^nameserver\s+(\S+)/gm)].map(([, address = '']) => address);
}
