// The pool controller: watches what pools are rendered from and the nodes, decides by decide-rollout.ts, and writes.
// The agent that holds the Lease runs it. Every pass begins with what the API says now; a call that fails is made
// again in a later pass.
import { nodeConfigAnnotations, readDrainProgress } from '../contract/machine-config-node.ts';
import type { Missing } from '../contract/missing.ts';
import type { FirstlightError } from '../errors/firstlight-error.ts';
import type { Host } from '../host/host.ts';
import { attemptCall } from '../kubernetes/attempt-call.ts';
import type { KubernetesClient } from '../kubernetes/client.ts';
import { kubernetesErrors } from '../kubernetes/errors.ts';
import type { KubernetesObject } from '../kubernetes/object.ts';
import { watchTogether } from '../kubernetes/watch.ts';
import {
  isRenderedConfig,
  kubeletConfigKind,
  type SourceObjects,
  sourceKinds,
} from '../machine-config/cluster-sources.ts';
import { Doorbell } from '../workflow/doorbell.ts';
import { pause } from '../workflow/pause.ts';
import { asksMasters, decideRollout, type ObservedRollout, type PoolDecision } from './decide-rollout.ts';
import { Drains, type DrainTask } from './drains.ts';
import { type DrainRequest, nodeRequests } from './node-requests.ts';
import { machineConfigInBrief, type RenderedCluster, renderCluster, sourcesDigest } from './rendered-cluster.ts';
import { nodeInBrief, type RolloutNode, rolloutNode } from './rollout-node.ts';
import { type RolloutEvent, RolloutWriter } from './rollout-writer.ts';
import { staleConfigs } from './stale-configs.ts';

export interface RolloutOptions {
  readonly client: KubernetesClient;
  readonly host: Pick<Host, 'clock' | 'random'>;
  /** The program and its version, for an annotation of what it generates. */
  readonly generatedBy: string;
  /** What is missing before this master may go down: another that is not Ready, an API or a member that is silent. */
  readonly mastersMissing: (except: string) => Promise<readonly Missing[]>;
  readonly signal: AbortSignal;
  /** Whether we still hold the Lease; checked before every act. */
  readonly mayAct: () => boolean;
  readonly onEvent: (event: RolloutEvent) => void;
}

/** Several MachineConfigs are often changed together: a render waits until nothing changed for this long. */
const quietMs = 200;
const quietMsMax = 1_000;
/** Masters and failed calls are looked at again after this long even without a change. */
const tickMs = 30_000;
const againMs = 2_000;

const races = [kubernetesErrors.CONFLICT, kubernetesErrors.NOT_FOUND, kubernetesErrors.ALREADY_EXISTS];

type Seen = SourceObjects & { readonly nodes: readonly KubernetesObject[] };

/** Ends only by throwing the reason of the signal. */
export async function runRollout(options: RolloutOptions): Promise<never> {
  const { client, host } = options;
  const over = new AbortController();
  const signal = AbortSignal.any([options.signal, over.signal]);
  const onTrouble = (error: FirstlightError): void => options.onEvent({ kind: 'trouble', error });
  await using rollout = new Rollout({ ...options, signal }, onTrouble);
  const watching = async (): Promise<never> => {
    const sources = {
      ...sourceKinds,
      kubeletConfigs: { kind: kubeletConfigKind },
      machineConfigs: { ...sourceKinds.machineConfigs, keep: machineConfigInBrief },
      nodes: { kind: { apiVersion: 'v1', kind: 'Node' }, keep: nodeInBrief },
    };
    for await (const seen of watchTogether({ client, host, signal, onTrouble }, sources)) rollout.see(seen);
    throw new Error('a watch ends only by throwing');
  };
  const tasks = [watching(), rollout.run()];
  try {
    return await Promise.race(tasks);
  } finally {
    over.abort(new Error('this controller does not lead any more'));
    await Promise.allSettled(tasks);
  }
}

class Rollout implements AsyncDisposable {
  readonly #options: RolloutOptions;
  readonly #changed = new Doorbell();
  readonly #writer: RolloutWriter;
  readonly #drains: Drains;
  #seen: Seen | undefined;
  #rendered: (RenderedCluster & { readonly digest: string }) | undefined;
  #isAgainDue = false;

  constructor(options: RolloutOptions, onTrouble: (error: FirstlightError) => void) {
    this.#options = options;
    this.#writer = new RolloutWriter(options);
    this.#drains = new Drains({ ...options, onTrouble });
  }

  see(seen: Seen): void {
    this.#seen = seen;
    this.#changed.ring();
  }

  async run(): Promise<never> {
    const { host, signal, mayAct } = this.#options;
    for (;;) {
      signal.throwIfAborted();
      const { rings } = this.#changed;
      this.#isAgainDue = false;
      const seen = await this.#settledSources();
      if (seen !== undefined && mayAct()) await this.#attempt(() => this.#pass(seen));
      const wake = (end: AbortSignal): Promise<void> => this.#changed.rung(rings, end);
      await pause(host.clock, { ms: this.#isAgainDue ? againMs : tickMs, signal, wake });
    }
  }

  /** The newest state; where the sources differ from what was rendered, when they have been quiet for a moment. */
  async #settledSources(): Promise<Seen | undefined> {
    const { clock } = this.#options.host;
    const endMs = clock.monotonicMs() + quietMsMax;
    for (;;) {
      const seen = this.#seen;
      if (seen === undefined || this.#rendered === undefined) return seen;
      const digest = sourcesDigest(seen);
      if (digest === this.#rendered.digest || clock.monotonicMs() >= endMs) return seen;
      await clock.sleep(quietMs, this.#options.signal);
      if (this.#seen !== undefined && sourcesDigest(this.#seen) === digest) return this.#seen;
    }
  }

  async #pass(seen: Seen): Promise<void> {
    const { client, generatedBy, signal, host } = this.#options;
    const digest = sourcesDigest(seen);
    if (this.#rendered?.digest !== digest) {
      const rendered = await renderCluster(seen, { client, generatedBy, signal });
      this.#rendered = { ...rendered, digest };
      await this.#writer.rendered(rendered, seen);
    }
    const nodes = this.#writer.newest(seen.nodes).map(rolloutNode);
    const observed = this.#observed(seen, nodes, host.clock.now());
    const missing = asksMasters(observed) ? await this.#mastersMissing('') : [];
    const decisions = decideRollout(observed, missing);
    await this.#carryOut(decisions, { seen, nodes });
  }

  #observed(seen: Seen, nodes: readonly RolloutNode[], now: Date): ObservedRollout {
    const pools = (this.#rendered?.pools ?? []).flatMap((each) => {
      const object = seen.pools.find(({ metadata }) => metadata.name === each.pool.metadata.name);
      // A built-in pool that the API does not have yet is made first.
      return object === undefined ? [] : [{ ...each, object }];
    });
    const names = seen.machineConfigs.filter(isRenderedConfig).map(({ metadata }) => metadata.name);
    const written = (this.#rendered?.pools ?? []).flatMap(({ rendered }) => rendered?.name ?? []);
    return { pools, nodes, renderedConfigs: new Set([...names, ...written]), now };
  }

  async #carryOut(
    decisions: readonly PoolDecision[],
    { seen, nodes }: { readonly seen: Seen; readonly nodes: readonly RolloutNode[] },
  ): Promise<void> {
    for (const decision of decisions) {
      const object = seen.pools.find(({ metadata }) => metadata.name === decision.pool);
      if (object === undefined) continue;
      await this.#attempt(() => this.#writer.target(object, decision));
      for (const node of decision.move) await this.#attempt(() => this.#writer.move(node, decision, nodes));
      for (const { node, policy } of decision.driftPolicies) {
        await this.#attempt(() => this.#writer.driftPolicy(node, policy));
      }
      await this.#attempt(() => this.#writer.status(object, decision.status));
    }
    const requests = nodeRequests(nodes);
    for (const request of requests) await this.#attempt(() => this.#writer.answer(request));
    this.#drains.keep(
      requests.flatMap((request) => (request.kind === 'drain' ? this.#drainTasks(request, nodes) : [])),
    );
    const rendered = seen.machineConfigs.filter(isRenderedConfig);
    const stale = staleConfigs(rendered, { pools: seen.pools, nodes });
    await this.#attempt(() => this.#writer.stale(stale, rendered));
  }

  #drainTasks({ node: name, request }: DrainRequest, nodes: readonly RolloutNode[]): readonly DrainTask[] {
    const node = nodes.find((each) => each.name === name);
    if (node === undefined) return [];
    const { since } = readDrainProgress(node.drainProgress) ?? {};
    const answer = { [nodeConfigAnnotations.lastAppliedDrain]: request };
    const missing = (): Promise<readonly Missing[]> => this.#missingFor(node);
    return [{ node: name, request, answer, since, isOnlyNode: nodes.length === 1, missing }];
  }

  async #missingFor({ name, labels }: RolloutNode): Promise<readonly Missing[]> {
    return 'node-role.kubernetes.io/master' in labels ? this.#mastersMissing(name) : [];
  }

  /** Masters are asked again soon: nothing in the API changes when etcd has caught up. */
  async #mastersMissing(except: string): Promise<readonly Missing[]> {
    const missing = await this.#options.mastersMissing(except);
    if (missing.length > 0) this.#isAgainDue = true;
    return missing;
  }

  async #attempt(act: () => Promise<void>): Promise<void> {
    const { signal, mayAct, onEvent } = this.#options;
    const onTrouble = (error: FirstlightError): void => onEvent({ kind: 'trouble', error });
    if (!(await attemptCall({ signal, mayAct, races, onTrouble }, act))) this.#isAgainDue = true;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#drains[Symbol.asyncDispose]();
  }
}
