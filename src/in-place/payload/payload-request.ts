// How a payload is asked for: the request for it, made from the Secret of a node, and what is expected of the answer.
// Preflight and the host use the same one.
import { type AttemptSecret, attemptProxyVariables } from '../../contract/in-place.ts';
import type { HttpRequest } from '../../host/network.ts';
import { proxyFor } from '../../host/proxy-variables.ts';
import type { PayloadIds } from './payload-manifest.ts';
import { archiveBytesMax, type PayloadExpectation } from './verify-payload.ts';

/** The proxy of the Secret for programs that fetch something: some read the one spelling, some the other. */
export function payloadProxyVariables({ proxy }: AttemptSecret): Readonly<Record<string, string>> {
  const variables = Object.entries(attemptProxyVariables(proxy));
  return Object.fromEntries(
    variables.flatMap(([name, value]) => [[name, value] as const, [name.toLowerCase(), value] as const]),
  );
}

export function payloadIdsOf(secret: AttemptSecret): PayloadIds {
  return {
    workerId: secret['worker-id'] ?? '',
    clusterId: secret['cluster-id'] ?? '',
    region: secret.region ?? '',
  };
}

export function payloadRequest(secret: AttemptSecret): HttpRequest {
  const url = new URL(secret['bootstrap-url'] ?? '');
  for (const id of ['worker-id', 'cluster-id', 'region'] as const) url.searchParams.set(id, secret[id] ?? '');
  const proxy = proxyFor(url.href, attemptProxyVariables(secret.proxy));
  return {
    url: url.href,
    headers: { authorization: `Bearer ${secret['bootstrap-token'] ?? ''}` },
    ca: secret['bootstrap-ca.crt'] ?? '',
    maxBytes: archiveBytesMax,
    timeoutMs: 60_000,
    ...(proxy === undefined ? {} : { proxy }),
  };
}

export function payloadExpectation(secret: AttemptSecret, now: Date): PayloadExpectation {
  return {
    caPem: secret['bootstrap-ca.crt'] ?? '',
    serverName: new URL(secret['bootstrap-url'] ?? '').hostname.replace(/^\[|\]$/g, ''),
    ids: payloadIdsOf(secret),
    now,
  };
}
