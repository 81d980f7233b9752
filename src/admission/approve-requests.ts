// Carries out a decision about a certificate request: takes the token and approves, or records on the request why it
// stays pending. It decides twice: on what the watches show, and again on fresh lists right before it approves, so that
// two requests that arrive together cannot both use one token or name.
import { createHash } from 'node:crypto';
import { isError } from '../errors/firstlight-error.ts';
import type { Clock } from '../host/clock.ts';
import type { KubernetesClient } from '../kubernetes/client.ts';
import { kubernetesErrors } from '../kubernetes/errors.ts';
import { listBootstrapTokens, takeBootstrapToken } from './bootstrap-token-secret.ts';
import { type CertificateRequest, readCertificateRequest, requestKind } from './certificate-request.ts';
import { decideRequest, type RequestDecision } from './decide-request.ts';
import { type JoinFacts, knownNode } from './join-facts.ts';
import { nodeKind } from './node-roles.ts';

/** The facts that are not lists of the API. */
export type StandingFacts = Pick<JoinFacts, 'inventory' | 'virtualAddresses' | 'machineNetworks'>;

export interface ApprovalOptions {
  readonly client: KubernetesClient;
  readonly clock: Clock;
  readonly facts: StandingFacts;
  readonly signal: AbortSignal;
  /** Checked right before the approval is written. */
  readonly mayAct: () => boolean;
}

export type ApprovedRequest = Extract<RequestDecision, { readonly outcome: 'approve' }>;

/** Undefined when the fresh lists, or a faster writer, spoke against it: the next pass decides again. */
export async function approveRequest(
  name: string,
  { client, clock, facts, signal, mayAct }: ApprovalOptions,
): Promise<ApprovedRequest | undefined> {
  const now = clock.now();
  const [requests, nodes, tokens] = await Promise.all([
    client.list(requestKind, {}, { signal }),
    client.list(nodeKind, {}, { signal }),
    listBootstrapTokens(client, { signal }),
  ]);
  const all = requests.items.map(readCertificateRequest);
  const request = all.find(({ metadata }) => metadata.name === name);
  if (request === undefined) return undefined;
  const decision = decideRequest(request, all, { ...facts, now, nodes: nodes.items.map(knownNode), tokens });
  if (decision.outcome !== 'approve' || !mayAct()) return undefined;
  const { token, nodeName } = decision;
  const requestUid = request.metadata.uid ?? '';
  if (token !== undefined && !(await takeBootstrapToken(client, token, { nodeName, requestUid, now, signal }))) {
    return undefined;
  }
  return (await writeApproval(client, request, { now, reason: decision.reason, signal })) ? decision : undefined;
}

async function writeApproval(
  client: KubernetesClient,
  request: CertificateRequest,
  { now, reason, signal }: { readonly now: Date; readonly reason: string; readonly signal: AbortSignal },
): Promise<boolean> {
  const condition = {
    type: 'Approved',
    status: 'True',
    reason: 'ApprovedByFirstlight',
    message: reason,
    lastUpdateTime: now.toISOString(),
  };
  try {
    const approved = { ...request, status: { ...request.status, conditions: [condition] } };
    await client.replace(approved, { subresource: 'approval', signal });
    return true;
  } catch (error) {
    if (isError(error, kubernetesErrors.CONFLICT) || isError(error, kubernetesErrors.NOT_FOUND)) return false;
    throw error;
  }
}

/** An Event on the request, shown by `kubectl describe csr`; one per request and reason. */
export async function recordWhyPending(
  client: KubernetesClient,
  { metadata }: CertificateRequest,
  options: { readonly reason: string; readonly now: Date; readonly signal: AbortSignal },
): Promise<void> {
  const { reason, now, signal } = options;
  const digest = createHash('sha256')
    .update(`${metadata.uid ?? ''}\n${reason}`)
    .digest('hex')
    .slice(0, 16);
  const time = now.toISOString();
  const event = {
    apiVersion: 'v1',
    kind: 'Event',
    // Not named after the request, whose name the client chose. Events on objects without a namespace are in `default`.
    metadata: { name: `csr-left-pending.${digest}`, namespace: 'default' },
    involvedObject: { ...requestKind, name: metadata.name, uid: metadata.uid },
    type: 'Warning',
    reason: 'LeftPending',
    message: `Not approved: ${reason}`.slice(0, 1024),
    source: { component: 'firstlight-approver' },
    firstTimestamp: time,
    lastTimestamp: time,
    count: 1,
  };
  try {
    await client.create(event, { signal });
  } catch (error) {
    if (!isError(error, kubernetesErrors.ALREADY_EXISTS)) throw error;
  }
}
