// The grant of a pod: the Secret of its node and a token for reports. The token of its service account is judged by the
// API of the cluster, which also tells the node that the token is bound to: a pod gets what is for its own node only.
import { hash } from 'node:crypto';
import { z } from 'zod';
import {
  attemptName,
  inPlaceDaemonSet,
  inPlaceNamespace,
  type ReporterGrant,
  reporterAudience,
} from '../../contract/in-place.ts';
import type { ServerRequest } from '../../host/https-server.ts';
import { jsonIfValid } from '../../host/json-if-valid.ts';
import type { KubernetesClient } from '../../kubernetes/client.ts';
import { findAttemptSecret } from '../attempt-secret.ts';
import { isEnd, phaseTable } from '../phases.ts';
import type { RecordedAttempt } from './attempt-records.ts';
import { giveProgress, type ProgressHandled, refuseProgress } from './progress-answers.ts';
import { bearerCredential, type PathIds, type ProgressParts } from './progress-request.ts';
import { newReporterToken } from './reporter-token.ts';

/** The controller makes an attempt within a moment of the label. */
const attemptWaitMs = 8_000;
const writesMax = 5;

export async function grantReporter(
  parts: ProgressParts,
  request: ServerRequest,
  { cluster, node }: PathIds,
): Promise<ProgressHandled> {
  const { client, records, lookUps, host } = parts;
  const token = bearerCredential(request);
  const now = host.clock.now();
  if (!isPodsToken(token, now) || !lookUps.take(request.peer.address)) return refuseProgress('reporter-refused');
  const judged = await judgePod(client, token);
  if (judged.node !== node) return refuseProgress('reporter-refused', { detail: judged.problem ?? 'another node' });
  const about = { machine: node };
  const secret = await findAttemptSecret(client, node);
  const attemptId = secret?.['attempt-id'];
  if (secret === undefined || attemptId === undefined) {
    return refuseProgress('attempt-not-there', { ...about, detail: 'there is no Secret with an attempt-id' });
  }
  const name = attemptName(node, attemptId);
  const found = await records.wait(name, attemptWaitMs, (one) => one !== undefined);
  const { spec } = found?.attempt ?? {};
  if (found === undefined || spec?.attemptId !== attemptId || spec.clusterId !== cluster) {
    return refuseProgress('attempt-not-there', { ...about, detail: `InPlaceAttempt ${name} is not there` });
  }
  const granted = await recordGrant(parts, found);
  if (typeof granted === 'string') return refuseProgress(granted, about);
  const grant: ReporterGrant = { attemptId, secret, ...granted };
  return giveProgress(200, grant, { ...about, detail: `grant for ${name}` });
}

/** The digest of a new token is in the API before the token leaves. That of the grant before stays good. */
async function recordGrant(
  { records, host }: ProgressParts,
  found: RecordedAttempt,
): Promise<{ readonly token: string; readonly ackSeq: number } | 'attempt-begun' | 'attempt-busy'> {
  const token = newReporterToken(host.random);
  const { name } = found.object.metadata;
  let current: RecordedAttempt | undefined = found;
  for (let tries = 1; tries <= writesMax && current !== undefined; tries += 1) {
    const { phase, report } = current.attempt.status;
    if (isEnd(phase) || hasBegun(current)) return 'attempt-begun';
    const { tokenDigest } = report;
    const digests = {
      tokenDigest: hash('sha256', token, 'hex'),
      ...(tokenDigest === undefined ? {} : { formerTokenDigest: tokenDigest }),
    };
    const written = await records.write(current, { ...report, ...digests });
    if (written !== undefined) return { token, ackSeq: written.attempt.status.report.ackSeq };
    current = await records.read(name);
  }
  return 'attempt-busy';
}

/** The host works on it by itself: a second pod could only disturb it. */
function hasBegun({ attempt }: RecordedAttempt): boolean {
  const { phase, report } = attempt.status;
  return [phase, ...report.phases.map((one) => one.phase)].some((one) => phaseTable[one].holdsKubelet);
}

const claims = z.object({
  aud: z.union([z.string(), z.array(z.string())]),
  exp: z.number(),
  sub: z.literal(`system:serviceaccount:${inPlaceNamespace}:${inPlaceDaemonSet}`),
});

/** Whether it says that it is one. It may be forged: only the API can tell, and it is asked about nothing else. */
function isPodsToken(token: string, now: Date): boolean {
  const [, payload = '', ...rest] = token.split('.');
  const read = claims.safeParse(jsonIfValid(Buffer.from(payload, 'base64url')));
  return (
    rest.length === 1 &&
    read.success &&
    read.data.exp * 1_000 > now.getTime() &&
    [read.data.aud].flat().includes(reporterAudience)
  );
}

const reviewSchema = z.object({
  status: z.object({
    authenticated: z.boolean().default(false),
    error: z.string().optional(),
    audiences: z.array(z.string()).default([]),
    user: z
      .object({
        username: z.string().default(''),
        extra: z.record(z.string(), z.array(z.string())).default({}),
      })
      .default({ username: '', extra: {} }),
  }),
});
const nodeNameExtra = 'authentication.kubernetes.io/node-name';

/** The node of the pod whose token it is. */
async function judgePod(
  client: KubernetesClient,
  token: string,
): Promise<{ readonly node?: string; readonly problem?: string }> {
  const kind = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview' };
  const asked = { ...kind, metadata: { name: '' }, spec: { token, audiences: [reporterAudience] } };
  const { status } = reviewSchema.parse(await client.create(asked, { deadlineMs: 7_000 }));
  if (!status.authenticated || !status.audiences.includes(reporterAudience))
    return { problem: status.error ?? 'unknown' };
  const { username, extra } = status.user;
  if (username !== `system:serviceaccount:${inPlaceNamespace}:${inPlaceDaemonSet}`) return { problem: username };
  const [node] = extra[nodeNameExtra] ?? [];
  return node === undefined ? { problem: 'the token is bound to no node' } : { node };
}
