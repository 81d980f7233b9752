// The Secret of a node, read by a config server on behalf of the machine that may have it.
import {
  type AttemptSecret,
  type AttemptSecretKey,
  attemptSecretKeys,
  attemptSecretName,
  inPlaceNamespace,
} from '../../contract/in-place.ts';
import type { KubernetesClient } from '../../kubernetes/client.ts';

/** Undefined where there is none. */
export async function findAttemptSecret(client: KubernetesClient, node: string): Promise<AttemptSecret | undefined> {
  const reference = { apiVersion: 'v1', kind: 'Secret', namespace: inPlaceNamespace, name: attemptSecretName(node) };
  const found = await client.find(reference, { deadlineMs: 7_000 });
  const data = (found?.['data'] ?? {}) as Readonly<Record<string, string>>;
  if (found === undefined) return undefined;
  const keys = Object.keys(attemptSecretKeys) as readonly AttemptSecretKey[];
  const known = keys.flatMap((key) => {
    const value = data[key];
    return value === undefined ? [] : [[key, Buffer.from(value, 'base64').toString('utf8')] as const];
  });
  return Object.fromEntries(known);
}
