// Which requests are worth a look, and in which order: pure functions. A client that floods the API with requests must
// not delay another: of each client only the newest request is decided, and what no kubelet would leave behind is
// removed. Nor must a machine that got many tokens: machines take turns.
import type { BootstrapToken } from './bootstrap-token-secret.ts';
import { kubeletClientSigner, type RequestSummary } from './certificate-request.ts';

/** A kubelet's request has under 1000 bytes. */
export const requestSizeMax = 65_536;
/** A kubelet that restarted leaves its earlier requests behind, a few at most. */
export const pendingPerClientMax = 20;

export interface Triage {
  /** The newest request of each client and signer, the oldest of them first. */
  readonly decide: readonly RequestSummary[];
  /** Stays as it is: the client waits for a newer one. */
  readonly superseded: readonly RefusedRequest[];
  /** Removed: nobody could approve it, and the API would keep it for a day. */
  readonly remove: readonly RefusedRequest[];
}

export interface RefusedRequest {
  readonly request: RequestSummary;
  readonly reason: string;
}

export function triageRequests(requests: readonly RequestSummary[]): Triage {
  const decide: RequestSummary[] = [];
  const superseded: RefusedRequest[] = [];
  const remove: RefusedRequest[] = [];
  const perClient = new Map<string, RequestSummary[]>();
  for (const request of requests) {
    if (request.isDecided) continue;
    if (request.size > requestSizeMax) {
      remove.push({ request, reason: `it has ${request.size} bytes; no request may have more than ${requestSizeMax}` });
      continue;
    }
    const client = `${request.signerName}\n${request.username}`;
    const others = perClient.get(client);
    if (others === undefined) perClient.set(client, [request]);
    else others.push(request);
  }
  for (const pending of perClient.values()) {
    const [newest, ...older] = pending.sort((a, b) => compareAge(b, a));
    if (newest === undefined) continue;
    if (isOurs(newest)) decide.push(newest);
    for (const [index, request] of older.entries()) {
      const isTooMany = index + 1 >= pendingPerClientMax;
      if (isTooMany) remove.push({ request, reason: `${request.username} has ${pendingPerClientMax} newer ones` });
      // The kubelet waits for its newest request only; approving an older one would waste the token.
      else superseded.push({ request, reason: `the same kubelet asked again later: ${newest.name}` });
    }
  }
  return { decide: decide.sort(compareAge), superseded, remove };
}

/** The token that a request was made with. */
export function tokenIdOf(username: string): string | undefined {
  return /^system:bootstrap:([a-z0-9]{6})$/.exec(username)?.[1];
}

/**
 * One request of each pool and address in turn, then the second of each, and so on; in each turn those of masters come
 * first. Whoever has many tokens waits behind everybody who has one.
 */
export function inTurns(
  requests: readonly RequestSummary[],
  tokens: readonly BootstrapToken[],
): readonly RequestSummary[] {
  const known = new Map(tokens.map((token) => [token.id, token]));
  const counts = new Map<string, number>();
  const placed = requests.map((request) => {
    const token = known.get(tokenIdOf(request.username) ?? '');
    // A node that asks for a serving certificate is its own origin; unknown tokens are one.
    const isNode = request.username.startsWith('system:node:');
    const origin =
      token === undefined ? (isNode ? request.username : '') : `${token.pool} ${token.issuedToAddress ?? ''}`;
    const turn = counts.get(origin) ?? 0;
    counts.set(origin, turn + 1);
    return { request, turn, rank: token?.pool === 'master' ? 0 : 1 };
  });
  return placed.sort((a, b) => a.turn - b.turn || a.rank - b.rank).map(({ request }) => request);
}

/** The controller manager's approver handles nodes that renew their own client certificate. */
function isOurs({ signerName, username }: RequestSummary): boolean {
  return signerName !== kubeletClientSigner || !username.startsWith('system:node:');
}

function compareAge({ age: a }: RequestSummary, { age: b }: RequestSummary): number {
  return a[0] - b[0] || a[1] - b[1];
}
