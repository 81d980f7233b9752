// Runs the membership loop with its Lease and the watches that give its facts, and publishes the endpoints. The
// bootstrap machine runs it first, then the master that holds the Lease. A caller that waits for a stage also returns
// when another machine holds the Lease and reaches the stage.
import { membershipLease, systemNamespace } from '../contract/cluster-objects.ts';
import type { Inventory } from '../contract/inventory.ts';
import { FirstlightError } from '../errors/firstlight-error.ts';
import { type EtcdTls, RenewingEtcdClients } from '../etcd/client.ts';
import type { Host } from '../host/host.ts';
import type { HttpClient } from '../host/network.ts';
import type { KubernetesClient } from '../kubernetes/client.ts';
import { type ElectionEvent, type ElectionOptions, type Leadership, leadWhile } from '../kubernetes/lease.ts';
import { Doorbell } from '../workflow/doorbell.ts';
import { ApiProbes } from './api-probes.ts';
import { ClusterView, followCluster, inventoryIn } from './cluster-view.ts';
import { endpointsOf, publishEndpoints, readEndpoints } from './etcd-endpoints.ts';
import type { MembershipEvent } from './membership-events.ts';
import { membershipFacts } from './membership-facts.ts';
import { keepMembership } from './membership-loop.ts';
import type { MembershipStage } from './move.ts';
import type { MembershipFacts, ObservedCluster } from './observed-cluster.ts';

export interface LookAfterOptions {
  readonly host: Host;
  readonly client: KubernetesClient;
  /** The current identity of `etcd-membership-client`; read again at every look. */
  readonly tls: () => Promise<EtcdTls>;
  /** The authority against which certificates of the masters' API servers are checked. */
  readonly apiCaPem: string;
  /** Used while the API has no inventory. */
  readonly inventory: () => Promise<Inventory | undefined>;
  /** How many masters the cluster is meant to have. */
  readonly maxLearners: number;
  readonly identity: string;
  readonly signal: AbortSignal;
  readonly emit: (event: MembershipEvent) => void;
  readonly onElection?: (event: ElectionEvent) => void;
  readonly onLook?: (seen: ObservedCluster) => void;
  /** When any machine reaches this stage, return and give the Lease back. Without it, run until the signal aborts. */
  readonly until?: MembershipStage;
}

/**
 * A holder of the Lease that could not read the members for this long gives the Lease back and does not apply for it
 * for a while: a machine may reach the API and not etcd, and another machine may reach both.
 */
const unreadableLimitMs = 15_000;
const standAsideMs = 10_000;

export async function lookAfterMembers(options: LookAfterOptions): Promise<void> {
  return options.until === undefined ? keepWhileLeading(options) : keepUntilStage(options);
}

async function keepWhileLeading(options: LookAfterOptions): Promise<void> {
  const { host, signal } = options;
  for (;;) {
    const unreadable = new AbortController();
    try {
      return await leadWhile(electionOf(options, signal), ({ signal: term, mayAct }) =>
        keepMembers(options, { signal: AbortSignal.any([term, unreadable.signal]), mayAct }, () =>
          unreadable.abort(membersUnreadable()),
        ),
      );
    } catch (error) {
      // The error is the one that the work threw when it was aborted.
      if (signal.aborted || !unreadable.signal.aborted) throw error;
      await host.clock.sleep(standAsideMs, signal);
    }
  }
}

/** Observes also while another machine holds the Lease: that machine may reach the stage. */
async function keepUntilStage(options: LookAfterOptions): Promise<void> {
  const { host, signal } = options;
  const reached = new AbortController();
  let held: Leadership | undefined;
  let unreadable = new AbortController();
  const elect = async (): Promise<void> => {
    const either = AbortSignal.any([signal, reached.signal]);
    for (;;) {
      unreadable = new AbortController();
      await leadWhile(electionOf(options, either), async (leadership) => {
        held = leadership;
        await aborted(AbortSignal.any([leadership.signal, unreadable.signal]));
        held = undefined;
      });
      await host.clock.sleep(standAsideMs, either);
    }
  };
  const electing = elect();
  try {
    const mayAct = (): boolean => held?.mayAct() ?? false;
    await Promise.race([
      keepMembers(options, { signal, mayAct }, () => unreadable.abort(membersUnreadable())),
      electing,
    ]);
  } finally {
    reached.abort(new Error('the stage is reached'));
    await electing.catch(() => undefined);
  }
}

function membersUnreadable(): Error {
  return new Error('the members of etcd cannot be seen from here');
}

function electionOf({ client, host, identity, onElection }: LookAfterOptions, signal: AbortSignal): ElectionOptions {
  const lease = { client, host, namespace: systemNamespace, name: membershipLease, identity, signal };
  return onElection === undefined ? lease : { ...lease, onEvent: onElection };
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

async function keepMembers(options: LookAfterOptions, leadership: Leadership, onUnreadable: () => void): Promise<void> {
  const { client, host } = options;
  const over = new AbortController();
  const signal = AbortSignal.any([leadership.signal, over.signal]);
  const view = new ClusterView();
  const changed = new Doorbell();
  const following = followCluster({ client, host, role: 'master', view, signal, onChange: () => changed.ring() });
  using clients = new RenewingEtcdClients(host.clock);
  using kept = host.network.keepConnections();
  const inputs = new LoopInputs(options, { view, changed, clients, kept, signal });
  const loop = keepMembership({
    clients,
    clock: host.clock,
    facts: () => inputs.facts(),
    mayAct: () => leadership.mayAct(),
    emit: options.emit,
    signal,
    wake: (until) => inputs.wake(until),
    onLook: (seen) => {
      options.onLook?.(seen);
      if (inputs.unreadableForMs(seen) > unreadableLimitMs && leadership.mayAct()) onUnreadable();
      if (leadership.mayAct()) void inputs.publish(seen);
    },
    ...(options.until === undefined ? {} : { until: options.until }),
  });
  try {
    // A watch ends only by failing, and without its watch the loop would decide on old facts.
    await Promise.race([loop, following]);
  } finally {
    over.abort(new Error('the members are looked after elsewhere'));
    await Promise.allSettled([loop, following, inputs.published]);
  }
}

interface LoopInputParts {
  readonly view: ClusterView;
  readonly changed: Doorbell;
  readonly clients: RenewingEtcdClients;
  readonly kept: HttpClient;
  readonly signal: AbortSignal;
}

class LoopInputs {
  readonly #options: LookAfterOptions;
  readonly #parts: LoopInputParts;
  readonly #probes: ApiProbes;
  #rings = 0;
  #publishedText = '';
  #readMs: number | undefined;
  published: Promise<void> = Promise.resolve();

  constructor(options: LookAfterOptions, parts: LoopInputParts) {
    this.#options = options;
    this.#parts = parts;
    this.#probes = new ApiProbes(options.host, { ca: options.apiCaPem, kept: parts.kept });
  }

  async facts(): Promise<MembershipFacts> {
    const { view, changed, clients, signal } = this.#parts;
    const { host, tls, maxLearners } = this.#options;
    clients.use(await tls());
    let inventory: Inventory | undefined;
    for (;;) {
      this.#rings = changed.rings;
      inventory = inventoryIn(view.configMaps) ?? (await this.#options.inventory());
      if (view.nodes !== undefined && inventory !== undefined) break;
      await changed.rung(this.#rings, signal);
      signal.throwIfAborted();
    }
    const { ready: readyApiServers, bootstrapApi } = await this.#probes.look(inventory);
    const { nodes, configMaps } = view;
    const now = host.clock.now();
    return membershipFacts({ inventory, configMaps, nodes, readyApiServers, bootstrapApi, maxLearners, now });
  }

  /** For how long the members could not be read; 0 when they can. */
  unreadableForMs({ membership }: ObservedCluster): number {
    const nowMs = this.#options.host.clock.monotonicMs();
    if (membership.status === 'read') this.#readMs = nowMs;
    this.#readMs ??= nowMs;
    return nowMs - this.#readMs;
  }

  /** Resolves when something changed since the facts were read. */
  wake(signal: AbortSignal): Promise<void> {
    return this.#parts.changed.rung(this.#rings, signal);
  }

  /** Publishes the endpoints that follow from a look: one write at a time, and none that changes nothing. */
  async publish(seen: ObservedCluster): Promise<void> {
    if (seen.membership.status === 'unreadable') return;
    const { view, signal } = this.#parts;
    const endpoints = endpointsOf(seen);
    const text = textOf(endpoints);
    if (text === this.#publishedText || text === textOf(readEndpoints(view.configMaps) ?? {})) return;
    this.#publishedText = text;
    this.published = publishEndpoints(this.#options.client, endpoints, { signal }).catch((error: unknown) => {
      // The next look publishes again.
      this.#publishedText = '';
      if (!signal.aborted && !(error instanceof FirstlightError)) throw error;
    });
    await this.published;
  }
}

function textOf(endpoints: Readonly<Record<string, string>>): string {
  return JSON.stringify(Object.entries(endpoints).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
