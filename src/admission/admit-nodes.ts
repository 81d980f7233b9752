// The loop that lets machines in: it approves the requests that decide-request.ts approves, writes on the others why
// they wait, gives nodes their role labels, and deletes used tokens. The agent that holds the Lease runs it. A pass
// does a limited amount of work for each client, so that a client that asks a thousand times delays no other.
import type { Inventory } from '../contract/inventory.ts';
import type { FirstlightError } from '../errors/firstlight-error.ts';
import type { Host } from '../host/host.ts';
import { attemptCall } from '../kubernetes/attempt-call.ts';
import type { KubernetesClient } from '../kubernetes/client.ts';
import { kubernetesErrors } from '../kubernetes/errors.ts';
import type { KubernetesObject } from '../kubernetes/object.ts';
import { type WatchSource, watchTogether } from '../kubernetes/watch.ts';
import {
  type ApprovedRequest,
  approveRequest,
  findRequest,
  type RequestVerdict,
  recordRefusal,
  removeRequest,
} from './approve-requests.ts';
import { deleteBootstrapToken, readBootstrapToken, secretKind, tokenSelection } from './bootstrap-token-secret.ts';
import {
  type CertificateRequest,
  kubeletClientSigner,
  kubeletServingSigner,
  type RequestSummary,
  requestKind,
  summaryObject,
  summaryOf,
} from './certificate-request.ts';
import { decideRequest } from './decide-request.ts';
import { type JoinFacts, knownNode } from './join-facts.ts';
import { labelNode, missingLabels, nodeKind, type PoolLabels, readPoolLabels } from './node-roles.ts';
import { inTurns, type RefusedRequest, triageRequests } from './triage-requests.ts';

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
  /** Requests that no kubelet makes, of one client; the reason is that of the first. Said a few times a minute. */
  | { readonly kind: 'removed'; readonly username: string; readonly count: number; readonly reason: string }
  | { readonly kind: 'labelled'; readonly node: string; readonly labels: readonly string[] }
  | { readonly kind: 'token-deleted'; readonly id: string; readonly node: string }
  | { readonly kind: 'trouble'; readonly error: FirstlightError };

/** Names and tokens are reserved for a time, and failed calls are tried again: a pass is due even without a change. */
const tickMs = 5_000;
/** The rest is done in the next passes, those first that waited longest. */
const perPass = { decisions: 50, removals: 48, removalsAtOnce: 8, explanations: 20 } as const;
/** Explanations are objects in etcd, and one client must not cause thousands of them. */
const explanationsPerMinute = 10;
/** A kubelet's request is shorter; the text of a longer one is read again for each decision. */
const keptLength = 4_096;

/** Ends only by throwing the reason of the signal. */
export async function admitNodes(options: AdmitOptions): Promise<never> {
  const { client, host, signal, onEvent } = options;
  const onTrouble = (error: FirstlightError): void => onEvent?.({ kind: 'trouble', error });
  const sources = {
    clientRequests: requestsFor(kubeletClientSigner),
    servingRequests: requestsFor(kubeletServingSigner),
    nodes: { kind: nodeKind },
    secrets: { kind: secretKind, selection: tokenSelection },
  };
  const admission = new Admission(options);
  for await (const seen of watchTogether({ client, host, signal, onTrouble, tickMs }, sources)) {
    if (options.mayAct()) await admission.pass(seen);
  }
  throw new Error('a watch ends only by throwing');
}

/** A page of requests of the largest size that etcd takes has eight megabytes. */
function requestsFor(signer: string): WatchSource {
  const selection = { fieldSelector: `spec.signerName=${signer}` };
  return { kind: requestKind, selection, pageSize: 4, keep: summaryObject };
}

interface Seen {
  readonly clientRequests: readonly KubernetesObject[];
  readonly servingRequests: readonly KubernetesObject[];
  readonly nodes: readonly KubernetesObject[];
  readonly secrets: readonly KubernetesObject[];
}

type LabelledFacts = JoinFacts & { readonly poolLabels: PoolLabels };

class Admission {
  readonly #options: AdmitOptions;
  /** Requests whose reason was written already; after a restart each is written once more. */
  readonly #explained = new Set<string>();
  /** When each request was last decided about: those that were not yet come first. */
  readonly #lookedMs = new Map<string, number>();
  /** What was read of requests that wait; their contents never change. */
  readonly #read = new Map<string, CertificateRequest>();
  readonly #allowances = new Map<string, { readonly sinceMs: number; count: number }>();
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
    await this.#attempt(async () => {
      const { client, signal } = this.#options;
      const poolLabels = await readPoolLabels(client, facts.tokens, { signal });
      await this.#labelNodes(seen.nodes, { ...facts, poolLabels });
      await this.#deleteTokens(seen.nodes, { ...facts, poolLabels });
    });
    await this.#decideAll([...seen.clientRequests, ...seen.servingRequests].map(summaryOf), facts);
  }

  async #decideAll(requests: readonly RequestSummary[], facts: JoinFacts): Promise<void> {
    const { decide, superseded, remove } = triageRequests(requests);
    const doubts: RefusedRequest[] = [];
    const looked = ({ uid }: RequestSummary): number => this.#lookedMs.get(uid) ?? 0;
    const longestFirst = decide.toSorted((a, b) => looked(a) - looked(b));
    const due = inTurns(longestFirst, facts.tokens).slice(0, perPass.decisions);
    for (const request of due) {
      await this.#attempt(async () => {
        const reason = await this.#decide(request, facts);
        if (reason !== undefined) doubts.push({ request, reason });
      });
    }
    await this.#removeSome(remove.slice(0, perPass.removals));
    await this.#explain([...doubts, ...superseded], 'LeftPending');
    this.#forgetGone(requests.map(({ uid }) => uid));
  }

  /** Approves it, or returns why it stays pending. */
  async #decide(summary: RequestSummary, facts: JoinFacts): Promise<string | undefined> {
    const { client, host, signal, mayAct, onEvent } = this.#options;
    const { name, uid } = summary;
    this.#lookedMs.set(uid, host.clock.monotonicMs());
    const request = this.#read.get(uid) ?? (await findRequest(client, summary, { signal }));
    if (request === undefined) return undefined;
    if (request.spec.request.length <= keptLength) this.#read.set(uid, request);
    const decision = decideRequest(request, facts);
    if (decision.outcome === 'leave-pending') return decision.reason;
    // Whatever comes of it, it will be another version of the request.
    this.#read.delete(uid);
    if (decision.outcome !== 'approve') return undefined;
    const approved = await approveRequest(request, { client, clock: host.clock, facts, signal, mayAct });
    if (approved !== undefined) onEvent?.({ kind: 'approved', request: name, decision: approved });
    return undefined;
  }

  async #removeSome(refused: readonly RefusedRequest[]): Promise<void> {
    const { client, signal, onEvent } = this.#options;
    const removed: RefusedRequest[] = [];
    for (let n = 0; n < refused.length; n += perPass.removalsAtOnce) {
      const some = refused.slice(n, n + perPass.removalsAtOnce).map((each) =>
        this.#attempt(async () => {
          if (await removeRequest(client, each.request, { signal })) removed.push(each);
        }),
      );
      await Promise.all(some);
    }
    // One Event and one line of the log stand for all that a client lost in this pass.
    for (const [username, theirs] of Map.groupBy(removed, ({ request }) => request.username)) {
      const explained = await this.#explain(theirs.slice(0, 1), 'Removed');
      if (explained === 0) continue;
      onEvent?.({ kind: 'removed', username, count: theirs.length, reason: theirs[0]?.reason ?? '' });
    }
  }

  /** How many of them were explained. */
  async #explain(refused: readonly RefusedRequest[], verdict: RequestVerdict): Promise<number> {
    const { client, host, signal, onEvent } = this.#options;
    const isNew = ({ request, reason }: RefusedRequest): boolean => !this.#explained.has(`${request.uid}\n${reason}`);
    let count = 0;
    for (const { request, reason } of refused.filter(isNew).slice(0, perPass.explanations)) {
      if (!this.#mayExplain(request.username)) continue;
      await this.#attempt(async () => {
        await recordRefusal(client, request, { verdict, reason, now: host.clock.now(), signal });
        this.#explained.add(`${request.uid}\n${reason}`);
        count += 1;
        if (verdict === 'LeftPending') onEvent?.({ kind: 'left-pending', request: request.name, reason });
      });
    }
    return count;
  }

  #mayExplain(username: string): boolean {
    const nowMs = this.#options.host.clock.monotonicMs();
    for (const [other, { sinceMs }] of this.#allowances) if (nowMs - sinceMs >= 60_000) this.#allowances.delete(other);
    const allowance = this.#allowances.get(username) ?? { sinceMs: nowMs, count: 0 };
    this.#allowances.set(username, allowance);
    allowance.count += 1;
    return allowance.count <= explanationsPerMinute;
  }

  async #labelNodes(nodes: readonly KubernetesObject[], facts: LabelledFacts): Promise<void> {
    const { client, signal, onEvent } = this.#options;
    for (const node of nodes) {
      const labels = missingLabels(node, facts);
      const { uid = '' } = node.metadata;
      if (Object.keys(labels).length === 0) this.#labelled.delete(uid);
      if (Object.keys(labels).length === 0 || this.#labelled.has(uid)) continue;
      await labelNode(client, node, { labels, signal });
      this.#labelled.add(uid);
      onEvent?.({ kind: 'labelled', node: node.metadata.name, labels: Object.keys(labels) });
    }
  }

  /**
   * A used token is kept until its node is there: its machine fetches the certificate with it, and its pool decides the
   * labels. The token of a master is also kept until the master has recorded that it holds its keys.
   */
  async #deleteTokens(nodes: readonly KubernetesObject[], facts: LabelledFacts): Promise<void> {
    const { client, signal, onEvent } = this.#options;
    for (const { id, used, pool, keysHeldBy } of facts.tokens) {
      if (pool === 'master' && keysHeldBy === undefined) continue;
      const node = nodes.find(({ metadata }) => metadata.name === used?.by);
      if (used === undefined || node === undefined) continue;
      // A node that joins again counts as live all the time.
      const { isLive, isClaimed } = knownNode(node);
      if (!isLive || isClaimed) continue;
      if (Object.keys(missingLabels(node, facts)).length > 0) continue;
      if (await deleteBootstrapToken(client, id, { signal })) onEvent?.({ kind: 'token-deleted', id, node: used.by });
    }
  }

  async #attempt(act: () => Promise<void>): Promise<void> {
    const { signal, mayAct, onEvent } = this.#options;
    const onTrouble = (error: FirstlightError): void => onEvent?.({ kind: 'trouble', error });
    const races = [kubernetesErrors.CONFLICT, kubernetesErrors.NOT_FOUND];
    await attemptCall({ signal, mayAct, races, onTrouble }, act);
  }

  #forgetGone(uids: readonly string[]): void {
    const present = new Set(uids);
    for (const uid of [...this.#lookedMs.keys(), ...this.#read.keys()].filter((each) => !present.has(each))) {
      this.#lookedMs.delete(uid);
      this.#read.delete(uid);
    }
    for (const key of this.#explained) {
      if (!present.has(key.split('\n')[0] ?? '')) this.#explained.delete(key);
    }
  }
}
