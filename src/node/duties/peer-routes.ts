// One route per pod range of every other node, through that node: the machines of a cluster share a link, so packets
// need no tunnel and no rewriting. route-plan.ts decides which. Our routes have a protocol number of their own; only
// routes with it are ever changed or removed, and a route of somebody else for the same range stays.
import { waitingFor } from '../../contract/missing.ts';
import { isError } from '../../errors/firstlight-error.ts';
import type { Host } from '../../host/host.ts';
import type { Agent } from '../agent-context.ts';
import { acted, type Duty, settled, waiting } from '../duty.ts';
import { agentErrors } from '../errors.ts';
import { knownInventory } from '../known-inventory.ts';
import { familyOf, planRoutes, type Route, type RouteFamily, routeFamilies } from '../route-plan.ts';
import { runCommand } from '../run-command.ts';

/** A number that iproute2's table of protocols does not use. */
export const routeProtocol = '241';

export const peerRoutesDuty: Duty = {
  name: 'peer-routes',
  roles: ['master', 'worker'],
  needs: ['cluster-view'],
  run: async (agent) => {
    const { host, node, cluster } = agent;
    const nodes = cluster.nodes ?? [];
    // A list without this node is not complete: no route is removed because of it.
    if (!nodes.some(({ metadata }) => metadata.name === node.name))
      return waiting(waitingFor(node.name, 'to be a node'));
    const inventory = await knownInventory(host, cluster);
    if (inventory === undefined) return waiting(waitingFor('the inventory of the machines of the cluster'));
    const { podRoutes, machineNetworks } = agent;
    if (podRoutes === undefined) return waiting(waitingFor('settings of this machine that name the pod network'));
    const { routes: wanted, refused } = planRoutes(nodes, { ...podRoutes, machineNetworks, inventory, own: node });
    const note = [`to ${wanted.length} pod ranges`, ...refused].join('; ');
    const last = lastSeen.get(agent);
    const isFresh = last !== undefined && host.clock.monotonicMs() - last.atMs < freshMs;
    if (isFresh && wanted.length === last.routes.length && wanted.every((route, n) => isSame(route, last.routes[n]))) {
      return settled(note);
    }
    const present = (await Promise.all(routeFamilies.map((family) => readRoutes(host, family)))).flat();
    const missing = wanted.filter((route) => !present.some((other) => isSame(route, other)));
    const stale = present.filter(({ range }) => !wanted.some((route) => route.range === range));
    if (missing.length + stale.length === 0) {
      lastSeen.set(agent, { routes: wanted, atMs: host.clock.monotonicMs() });
      return settled(note);
    }
    const failures = [
      ...(await attempts(missing, ({ range, via }) => {
        // `replace` would also take the route of somebody else.
        const verb = present.some((route) => route.range === range) ? 'replace' : 'add';
        return ip(host, range, [verb, range, 'via', via]);
      })),
      ...(await attempts(stale, ({ range }) => ip(host, range, ['del', range]))),
    ];
    if (failures.length > 0) return waiting(...failures.map((failure) => waitingFor(failure)));
    return acted(`routes: ${missing.length} set, ${stale.length} removed`);
  },
};

/** The routes of the kernel when last read: most rings concern other duties, and each reading starts two processes. */
const lastSeen = new WeakMap<Agent, { readonly routes: readonly Route[]; readonly atMs: number }>();
const freshMs = 20_000;

/** Tries every route, also after a failure: the failure of a peer on another link must not affect the other routes. */
async function attempts(
  routes: readonly Route[],
  attempt: (route: Route) => Promise<void>,
): Promise<readonly string[]> {
  const failures: string[] = [];
  for (const route of routes) {
    try {
      await attempt(route);
    } catch (error) {
      if (!isError(error, agentErrors.COMMAND)) throw error;
      failures.push(error.message);
    }
  }
  return failures;
}

function isSame(a: Route, b: Route | undefined): boolean {
  return a.range === b?.range && a.via === b.via;
}

async function ip(host: Host, range: string, args: readonly string[]): Promise<void> {
  await runCommand(host, 'ip', [familyOf(range), 'route', ...args, 'proto', routeProtocol]);
}

async function readRoutes(host: Host, family: RouteFamily): Promise<readonly Route[]> {
  const text = await runCommand(host, 'ip', [family, '-json', 'route', 'show', 'proto', routeProtocol]);
  const routes = (text.trim() === '' ? [] : JSON.parse(text)) as readonly { dst?: string; gateway?: string }[];
  return routes.flatMap(({ dst, gateway }) => (dst === undefined ? [] : [{ range: dst, via: gateway ?? '' }]));
}
