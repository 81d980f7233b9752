// Carries out a decision about a certificate request: takes the token and approves, or records on the request why it
// stays pending, or removes it. It decides twice: on what the watches show, and again on fresh lists right before it
// approves, so that two requests that arrive together cannot both use one token or name.
import { createHash } from 'node:crypto';
import { isError } from '../errors/firstlight-error.ts';
import type { Clock } from '../host/clock.ts';
import type { ApiCallOptions, KubernetesClient } from '../kubernetes/client.ts';
import { kubernetesErrors } from '../kubernetes/errors.ts';
import { listBootstrapTokens, takeBootstrapToken } from './bootstrap-token-secret.ts';
import {
  type CertificateRequest,
  type RequestSummary,
  readCertificateRequest,
  requestKind,
} from './certificate-request.ts';
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

/** Why an Event stands on a request. */
export type RequestVerdict = 'LeftPending' | 'Removed';

export type ApprovedRequest = Extract<RequestDecision, { readonly outcome: 'approve' }>;

/** Undefined when the fresh lists, or a faster writer, spoke against it: the next pass decides again. */
export async function approveRequest(
  request: CertificateRequest,
  { client, clock, facts, signal, mayAct }: ApprovalOptions,
): Promise<ApprovedRequest | undefined> {
  const now = clock.now();
  const [nodes, tokens] = await Promise.all([
    client.list(nodeKind, {}, { signal }),
    listBootstrapTokens(client, { signal }),
  ]);
  const decision = decideRequest(request, { ...facts, now, nodes: nodes.items.map(knownNode), tokens });
  if (decision.outcome !== 'approve' || !mayAct()) return undefined;
  const { takes, nodeName } = decision;
  const requestUid = request.metadata.uid ?? '';
  if (takes !== undefined) {
    const { token, keyDigest } = takes;
    const isTaken = await takeBootstrapToken(client, token, { nodeName, requestUid, keyDigest, now, signal });
    if (!isTaken) return undefined;
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

/** The request as it is now; undefined when it is gone or another has its name. */
export async function findRequest(
  client: KubernetesClient,
  { name, uid }: RequestSummary,
  options: ApiCallOptions,
): Promise<CertificateRequest | undefined> {
  const found = await client.find({ ...requestKind, name }, options);
  return found === undefined || (found.metadata.uid ?? '') !== uid ? undefined : readCertificateRequest(found);
}

/** False when it was gone already. A denial would write the whole request again, and leave it there for an hour. */
export async function removeRequest(
  client: KubernetesClient,
  { name, uid }: RequestSummary,
  options: ApiCallOptions,
): Promise<boolean> {
  return client.delete({ ...requestKind, name }, { ...options, uid });
}

/** An Event on the request, shown by `kubectl describe csr`; one per request and reason. */
export async function recordRefusal(
  client: KubernetesClient,
  { name, uid }: RequestSummary,
  options: {
    readonly verdict: RequestVerdict;
    readonly reason: string;
    readonly now: Date;
    readonly signal: AbortSignal;
  },
): Promise<void> {
  const { verdict, reason, now, signal } = options;
  const digest = createHash('sha256').update(`${uid}\n${reason}`).digest('hex').slice(0, 16);
  const time = now.toISOString();
  const event = {
    apiVersion: 'v1',
    kind: 'Event',
    // Not named after the request, whose name the client chose. Events on objects without a namespace are in `default`.
    metadata: { name: `csr-refused.${digest}`, namespace: 'default' },
    involvedObject: { ...requestKind, name, uid },
    type: 'Warning',
    reason: verdict,
    message: `${verdict === 'Removed' ? 'Removed' : 'Not approved'}: ${reason}`.slice(0, 1024),
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
