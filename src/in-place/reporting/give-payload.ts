// The payload service: an archive that is made for one worker when it is asked for. Who asks shows the token of the
// Secret of a running attempt, and the ids that stand beside it.
import { hash, timingSafeEqual } from 'node:crypto';
import type { AttemptSecret } from '../../contract/in-place.ts';
import type { ServerRequest } from '../../host/https-server.ts';
import { findAttemptSecret } from '../attempt-secret.ts';
import { payloadIdsOf } from '../payload/payload-request.ts';
import { giveArchive, type ProgressHandled, refuseProgress } from './progress-answers.ts';
import { bearerCredential, type PathIds, type ProgressParts } from './progress-request.ts';

/** In the query. */
const idNames = ['worker-id', 'cluster-id', 'region'] as const;

export async function givePayload(
  parts: ProgressParts,
  request: ServerRequest,
  _ids: PathIds,
): Promise<ProgressHandled> {
  const found = await ownerOf(parts, request);
  if (found === undefined) return refuseProgress('reporter-refused');
  const { node, secret } = found;
  const about = { machine: node };
  const asked = new URL(request.target, 'https://localhost').searchParams;
  const wrong = idNames.filter((name) => asked.get(name) !== secret[name]);
  if (wrong.length > 0)
    return refuseProgress('payload-not-for-this', { ...about, detail: wrong.join(', '), body: { wrong } });
  const isLate = Date.parse(secret['not-after'] ?? '') <= parts.host.clock.now().getTime();
  if (isLate && !found.hasBegun)
    return refuseProgress('reporter-refused', { ...about, detail: 'the Secret has expired' });
  const made = await parts.makePayload({
    ids: payloadIdsOf(secret),
    pool: secret['node-pool'] ?? 'worker',
    config: secret['target-hash'],
    address: request.peer.address,
  });
  if ('refusal' in made) {
    return refuseProgress(made.refusal, { ...about, detail: made.reason, body: { reason: made.reason } });
  }
  return giveArchive(made.archive, { ...about, detail: `${made.config}, token ${made.tokenId}` });
}

interface PayloadOwner {
  readonly node: string;
  readonly secret: AttemptSecret;
  /** It began in time: from then on it may take as long as it takes. */
  readonly hasBegun: boolean;
}

/** The node whose Secret has the token that was shown. Only nodes with a running attempt of this kind have one. */
async function ownerOf(
  { client, records, lookUps }: ProgressParts,
  request: ServerRequest,
): Promise<PayloadOwner | undefined> {
  const token = bearerCredential(request);
  const running = await records.running('rhel');
  if (token === '' || running.length === 0 || !lookUps.take(request.peer.address)) return undefined;
  for (const { spec, status } of running) {
    const secret = await findAttemptSecret(client, spec.node);
    const expected = secret?.['bootstrap-token'] ?? '';
    const isOwn = secret?.['attempt-id'] === spec.attemptId && expected !== '' && isSame(expected, token);
    if (secret !== undefined && isOwn) return { node: spec.node, secret, hasBegun: status.phase !== 'Scheduled' };
  }
  return undefined;
}

function isSame(one: string, other: string): boolean {
  return timingSafeEqual(hash('sha256', one, 'buffer'), hash('sha256', other, 'buffer'));
}
