// The loop that lets machines in: it approves the requests that decide-request.ts approves, writes on the others why
// they wait, gives nodes their role labels, and deletes used tokens. The agent that holds the Lease runs it.
import type { Inventory } from '../contract/inventory.ts';
import { FirstlightError, isError } from '../errors/firstlight-error.ts';
import type { Host } from '../host/host.ts';
import type { KubernetesClient } from '../kubernetes/client.ts';
import { kubernetesErrors } from '../kubernetes/errors.ts';
import type { KubernetesObject } from '../kubernetes/object.ts';
import { watchTogether } from '../kubernetes/watch.ts';
import { type ApprovedRequest, approveRequest, recordWhyPending } from './approve-requests.ts';
import { deleteBootstrapToken, readBootstrapToken, secretKind, tokenSelection } from './bootstrap-token-secret.ts';
import { readCertificateRequest, requestKind } from './certificate-request.ts';
import { decideRequest } from './decide-request.ts';
import { type JoinFacts, knownNode } from './join-facts.ts';
import { labelNode, missingRoleLabels, nodeKind, rolesOf } from './node-roles.ts';

export interface AdmitOptions {
  readonly client: KubernetesClient;
  readonly host: Pick<Host, 'clock' | 'random'>;
  /** Read again in every pass: machines are added later. */
  readonly inventory: () => Promise<Inventory>;
  readonly virtualAddresses: readonly string[];
  readonly machineNetworks: readonly string[];
  readonly signal: AbortSignal;
  /** Whether we still hold the Lease; checked before every act. */
  readonly mayAct: () => boolean;
  readonly onEvent?: (event: AdmitEvent) => void;
}

export type AdmitEvent =
  | { readonly kind: 'approved'; readonly request: string; readonly decision: ApprovedRequest }
  | { readonly kind: 'left-pending'; readonly request: string; readonly reason: string }
  | { readonly kind: 'labelled'; readonly node: string; readonly labels: readonly string[] }
  | { readonly kind: 'token-deleted'; readonly id: string; readonly node: string }
  | { readonly kind: 'trouble'; readonly error: FirstlightError };

/** Names and tokens are reserved for a time, and failed calls are tried again: a pass is due even without a change. */
const tickMs = 5_000;

/** Ends only by throwing the reason of the signal. */
export async function admitNodes(options: AdmitOptions): Promise<never> {
  const { client, host, signal, onEvent } = options;
  const onTrouble = (error: FirstlightError): void => onEvent?.({ kind: 'trouble', error });
  const sources = {
    requests: { kind: requestKind },
    nodes: { kind: nodeKind },
    secrets: { kind: secretKind, selection: tokenSelection },
  };
  const admission = new Admission(options);
  for await (const seen of watchTogether({ client, host, signal, onTrouble, tickMs }, sources)) {
    if (options.mayAct()) await admission.pass(seen);
  }
  throw new Error('a watch ends only by throwing');
}

interface Seen {
  readonly requests: readonly KubernetesObject[];
  readonly nodes: readonly KubernetesObject[];
  readonly secrets: readonly KubernetesObject[];
}

class Admission {
  readonly #options: AdmitOptions;
  /** Requests whose reason was written already; after a restart each is written once more. */
  readonly #explained = new Set<string>();
  /** Nodes whose labels were written and are not in the watch yet, which is always a little behind. */
  readonly #labelled = new Set<string>();

  constructor(options: AdmitOptions) {
    this.#options = options;
  }

  async pass(seen: Seen): Promise<void> {
    const { host, inventory, virtualAddresses, machineNetworks } = this.#options;
    const facts: JoinFacts = {
      now: host.clock.now(),
      inventory: await inventory(),
      nodes: seen.nodes.map(knownNode),
      tokens: seen.secrets.flatMap((secret) => readBootstrapToken(secret) ?? []),
      virtualAddresses,
      machineNetworks,
    };
    await this.#attempt(() => this.#labelNodes(seen.nodes, facts));
    await this.#attempt(() => this.#deleteTokens(seen.nodes, facts));
    await this.#decideAll(seen.requests, facts);
  }

  async #decideAll(objects: readonly KubernetesObject[], facts: JoinFacts): Promise<void> {
    const requests = objects.map(readCertificateRequest);
    for (const request of requests) {
      const { name, uid } = request.metadata;
      const decision = decideRequest(request, requests, facts);
      if (decision.outcome === 'approve') await this.#attempt(() => this.#approve(name, facts));
      if (decision.outcome !== 'leave-pending') continue;
      const key = `${uid}\n${decision.reason}`;
      if (this.#explained.has(key)) continue;
      const { client, host, signal, onEvent } = this.#options;
      await this.#attempt(async () => {
        await recordWhyPending(client, request, { reason: decision.reason, now: host.clock.now(), signal });
        this.#explained.add(key);
        onEvent?.({ kind: 'left-pending', request: name, reason: decision.reason });
      });
    }
    this.#forgetGone(requests.map(({ metadata }) => metadata.uid ?? ''));
  }

  async #approve(name: string, facts: JoinFacts): Promise<void> {
    const { client, host, signal, mayAct, onEvent } = this.#options;
    const decision = await approveRequest(name, { client, clock: host.clock, facts, signal, mayAct });
    if (decision !== undefined) onEvent?.({ kind: 'approved', request: name, decision });
  }

  async #labelNodes(nodes: readonly KubernetesObject[], facts: JoinFacts): Promise<void> {
    const { client, signal, onEvent } = this.#options;
    for (const node of nodes) {
      const labels = missingRoleLabels(node, rolesOf(node.metadata.name, facts));
      const { uid = '' } = node.metadata;
      if (Object.keys(labels).length === 0) this.#labelled.delete(uid);
      if (Object.keys(labels).length === 0 || this.#labelled.has(uid)) continue;
      await labelNode(client, node, { labels, signal });
      this.#labelled.add(uid);
      onEvent?.({ kind: 'labelled', node: node.metadata.name, labels: Object.keys(labels) });
    }
  }

  /**
   * A used token is kept until its node is there: the kubelet fetches its certificate with it, and its pool decides the
   * labels. The token of a master is also kept until the master has recorded that it holds its keys.
   */
  async #deleteTokens(nodes: readonly KubernetesObject[], facts: JoinFacts): Promise<void> {
    const { client, signal, onEvent } = this.#options;
    for (const { id, used, pool, keysHeldBy } of facts.tokens) {
      if (pool === 'master' && keysHeldBy === undefined) continue;
      const node = nodes.find(({ metadata }) => metadata.name === used?.by);
      if (used === undefined || node === undefined || !knownNode(node).isLive) continue;
      if (Object.keys(missingRoleLabels(node, rolesOf(used.by, facts))).length > 0) continue;
      if (await deleteBootstrapToken(client, id, { signal })) onEvent?.({ kind: 'token-deleted', id, node: used.by });
    }
  }

  /** A call that the API refuses is tried again in the next pass; one bad object must not keep the others out. */
  async #attempt(act: () => Promise<void>): Promise<void> {
    const { signal, mayAct, onEvent } = this.#options;
    if (!mayAct()) return;
    try {
      await act();
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof FirstlightError)) throw error;
      const isRace = isError(error, kubernetesErrors.CONFLICT) || isError(error, kubernetesErrors.NOT_FOUND);
      if (!isRace) onEvent?.({ kind: 'trouble', error });
    }
  }

  #forgetGone(uids: readonly string[]): void {
    const present = new Set(uids);
    for (const key of this.#explained) {
      if (!present.has(key.split('\n')[0] ?? '')) this.#explained.delete(key);
    }
  }
}
