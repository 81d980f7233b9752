// Writes what the controller decided: pools, nodes, events. Nothing is decided here. What was written on a node counts
// at once: the watch is a little behind, and a pass on an older state could move one node too many.
import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { nodeConfigAnnotations as annotations, poolRollbackAnnotation } from '../contract/machine-config-node.ts';
import { type PoolStatus, readPoolStatus, renderedFinalizer } from '../contract/machine-config-pool.ts';
import { FirstlightError } from '../errors/firstlight-error.ts';
import type { Host } from '../host/host.ts';
import type { KubernetesClient } from '../kubernetes/client.ts';
import { conditionsOf } from '../kubernetes/conditions.ts';
import { type KubernetesObject, objectVersion, referenceOf } from '../kubernetes/object.ts';
import type { SourceObjects } from '../machine-config/cluster-sources.ts';
import type { KubeletConfigResult } from '../machine-config/generate-kubelet-configs.ts';
import { apiVersion } from '../machine-config/machine-config.ts';
import { builtInPools } from '../machine-config/pools.ts';
import type { PoolDecision } from './decide-rollout.ts';
import type { NodeRequest } from './node-requests.ts';
import { sourceReferences } from './pool-conditions.ts';
import type { RenderedCluster } from './rendered-cluster.ts';
import { cordonedAnnotation, nodeInBrief, type RolloutNode } from './rollout-node.ts';
import type { StaleConfigs } from './stale-configs.ts';

export type RolloutEvent =
  | { readonly kind: 'rendered'; readonly pool: string; readonly name: string }
  | { readonly kind: 'target'; readonly pool: string; readonly name: string }
  | { readonly kind: 'moved'; readonly node: string; readonly from: string; readonly to: string }
  | { readonly kind: 'cordoned' | 'uncordoned'; readonly node: string }
  | { readonly kind: 'removed'; readonly name: string }
  | { readonly kind: 'trouble'; readonly error: FirstlightError };

export interface RolloutWriterOptions {
  readonly client: KubernetesClient;
  readonly host: Pick<Host, 'clock'>;
  readonly signal: AbortSignal;
  readonly onEvent: (event: RolloutEvent) => void;
}

export class RolloutWriter {
  readonly #options: RolloutWriterOptions;
  /** Nodes as the API answered them after a write, until the watch has that version or a newer one. */
  readonly #written = new Map<string, KubernetesObject>();
  /** Rendered configs that somebody deleted while they are in use; each is reported once. */
  readonly #held = new Set<string>();

  constructor(options: RolloutWriterOptions) {
    this.#options = options;
  }

  /** The nodes of the watch, each replaced by what was written on it since. */
  newest(nodes: readonly KubernetesObject[]): readonly KubernetesObject[] {
    return nodes.map((node) => {
      const { name } = node.metadata;
      const written = this.#written.get(name);
      if (written === undefined) return node;
      if (written.metadata.uid === node.metadata.uid && objectVersion(written) > objectVersion(node)) return written;
      this.#written.delete(name);
      return node;
    });
  }

  async rendered({ written, kubeletConfigs }: RenderedCluster, seen: SourceObjects): Promise<void> {
    const { client, signal, onEvent } = this.#options;
    for (const pool of builtInPools) {
      if (seen.pools.some(({ metadata }) => metadata.name === pool.metadata.name)) continue;
      const { apiVersion, kind, metadata, spec } = pool;
      const { machineConfigSelector, nodeSelector } = spec;
      const { name, labels } = metadata;
      await client.create(
        { apiVersion, kind, metadata: { name, labels }, spec: { machineConfigSelector, nodeSelector } },
        { signal },
      );
    }
    for (const result of kubeletConfigs) {
      const object = seen.kubeletConfigs?.find(({ metadata }) => metadata.name === result.kubeletConfig);
      if (object !== undefined) await this.#kubeletConfigStatus(object, result);
    }
    for (const { pool, name } of written) {
      onEvent({ kind: 'rendered', pool, name });
      const object = seen.pools.find(({ metadata }) => metadata.name === pool);
      await this.#event(object, { reason: 'RenderedConfigGenerated', message: `${name} successfully generated` });
    }
  }

  async target(pool: KubernetesObject, { target }: PoolDecision): Promise<void> {
    const { client, signal, onEvent } = this.#options;
    const source = sourceReferences(target.sources);
    const { configuration } = pool['spec'] as { readonly configuration?: { readonly name?: string } | null };
    const isNew = target.name !== '' && configuration?.name !== target.name;
    if (!isNew && !target.dropsRollback) return;
    await client.mergePatch(
      referenceOf(pool),
      {
        ...(isNew ? { spec: { configuration: { name: target.name, source } } } : {}),
        ...(target.dropsRollback ? { metadata: { annotations: { [poolRollbackAnnotation]: null } } } : {}),
      },
      { signal },
    );
    if (isNew) onEvent({ kind: 'target', pool: pool.metadata.name, name: target.name });
  }

  async move(node: string, { target: { name: to } }: PoolDecision, nodes: readonly RolloutNode[]): Promise<void> {
    const { current: from = '', version: resourceVersion } = nodes.find(({ name }) => name === node) ?? {};
    // Only a node that is as it was seen: an in-place attempt claims nodes in the same way, and one of the two gets it.
    const metadata = { resourceVersion, annotations: { [annotations.desired]: to } };
    const written = await this.#patchNode(node, { metadata });
    this.#options.onEvent({ kind: 'moved', node, from, to });
    await this.#event(written, { reason: 'SetDesiredConfig', message: `Targeted node ${node} to MachineConfig ${to}` });
  }

  async driftPolicy(node: string, policy: string | undefined): Promise<void> {
    await this.#patchNode(node, { metadata: { annotations: { [annotations.driftPolicy]: policy ?? null } } });
  }

  async status(pool: KubernetesObject, status: PoolStatus): Promise<void> {
    if (isDeepStrictEqual(readPoolStatus(pool), status)) return;
    const { client, signal } = this.#options;
    await client.mergePatch(referenceOf(pool), { status }, { signal, subresource: 'status' });
  }

  /** Cordons and uncordons; a drain is a task of its own. */
  async answer(request: NodeRequest): Promise<void> {
    const { onEvent } = this.#options;
    if (request.kind === 'cordon') {
      const written = await this.#patchNode(request.node, {
        metadata: { annotations: { [cordonedAnnotation]: 'true' } },
        spec: { unschedulable: true },
      });
      onEvent({ kind: 'cordoned', node: request.node });
      await this.#event(written, { reason: 'Cordon', message: `Cordoned node ${request.node} to apply update` });
    }
    if (request.kind === 'uncordon') {
      const written = await this.#patchNode(request.node, {
        metadata: {
          annotations: {
            [annotations.lastAppliedDrain]: request.request,
            [annotations.drainProgress]: null,
            [cordonedAnnotation]: null,
          },
        },
        ...(request.isOurs ? { spec: { unschedulable: null } } : {}),
      });
      if (!request.isOurs) return;
      onEvent({ kind: 'uncordoned', node: request.node });
      await this.#event(written, { reason: 'Uncordon', message: `Update completed for node ${request.node}` });
    }
  }

  async stale({ remove, release, held }: StaleConfigs, rendered: readonly KubernetesObject[]): Promise<void> {
    const { client, signal, onEvent } = this.#options;
    const reference = (name: string) => ({ apiVersion, kind: 'MachineConfig', name });
    const letGo = async (name: string): Promise<void> => {
      const object = rendered.find(({ metadata }) => metadata.name === name);
      const { finalizers = [], resourceVersion } = (object?.metadata ?? {}) as {
        readonly finalizers?: readonly string[];
        readonly resourceVersion?: string;
      };
      const others = finalizers.filter((finalizer) => finalizer !== renderedFinalizer);
      await client.mergePatch(reference(name), { metadata: { finalizers: others, resourceVersion } }, { signal });
      onEvent({ kind: 'removed', name });
    };
    for (const name of release) await letGo(name);
    for (const name of remove) await client.delete(reference(name), { signal });
    for (const { name, by } of held) {
      if (this.#held.has(name)) continue;
      this.#held.add(name);
      const message = `It stays until nothing uses it any more: ${by.join(', ')}`;
      await this.#event(
        rendered.find(({ metadata }) => metadata.name === name),
        { reason: 'InUse', message, type: 'Warning' },
      );
    }
  }

  async #kubeletConfigStatus(object: KubernetesObject, { problems }: KubeletConfigResult): Promise<void> {
    const { client, host, signal } = this.#options;
    const isGood = problems.length === 0;
    const type = isGood ? 'Success' : 'Failure';
    const message = isGood ? 'Success' : problems.join('; ');
    const [present] = conditionsOf(object);
    if (present?.type === type && present.message === message) return;
    const lastTransitionTime = host.clock.now().toISOString();
    const conditions = [{ type, status: 'True', message, lastTransitionTime }];
    const status = { observedGeneration: object.metadata['generation'], conditions };
    await client.mergePatch(referenceOf(object), { status }, { signal, subresource: 'status' });
  }

  async #patchNode(name: string, patch: object): Promise<KubernetesObject> {
    const { client, signal } = this.#options;
    const written = nodeInBrief(await client.mergePatch({ apiVersion: 'v1', kind: 'Node', name }, patch, { signal }));
    this.#written.set(name, written);
    return written;
  }

  /** For people, by `kubectl describe`. One that could not be written is lost, and nothing else. */
  async #event(
    object: KubernetesObject | undefined,
    said: { readonly reason: string; readonly message: string; readonly type?: string },
  ): Promise<void> {
    if (object === undefined) return;
    const { client, host, signal } = this.#options;
    const { apiVersion, kind, metadata } = object;
    const { name, uid = '' } = metadata;
    const time = host.clock.now().toISOString();
    const digest = createHash('sha256').update([uid, said.reason, said.message, time].join('\n')).digest('hex');
    try {
      await client.create(
        {
          apiVersion: 'v1',
          kind: 'Event',
          // Events on objects without a namespace are in `default`.
          metadata: { name: `${name}.${digest.slice(0, 16)}`, namespace: 'default' },
          // Nodes are named by their name in events, as the kubelet does it.
          involvedObject: { apiVersion, kind, name, uid: kind === 'Node' ? name : uid },
          type: 'Normal',
          ...said,
          source: { component: 'firstlight-pool-controller' },
          firstTimestamp: time,
          lastTimestamp: time,
          count: 1,
        },
        { signal },
      );
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof FirstlightError)) throw error;
    }
  }
}
