// The Secret of a node, as it is in the API, and what it lacks. The workstation looks before it labels a node, a config
// server on behalf of the machine that may have it, and preflight P01 on the machine.
import {
  type AttemptSecret,
  type AttemptSecretKey,
  attemptSecretKeys,
  attemptSecretName,
  inPlaceNamespace,
  inPlaceSystems,
} from '../contract/in-place.ts';
import type { KubernetesClient } from '../kubernetes/client.ts';

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

/** The keys that a Secret for its system must have and has not. */
export function missingSecretKeys(secret: AttemptSecret): readonly AttemptSecretKey[] {
  const system = inPlaceSystems.find((name) => name === secret.os);
  const needed = Object.entries(attemptSecretKeys) as [AttemptSecretKey, { readonly needed: readonly string[] }][];
  return needed
    .filter(([, { needed: systems }]) =>
      system === undefined ? systems.length === inPlaceSystems.length : systems.includes(system),
    )
    .map(([key]) => key)
    .filter((key) => (secret[key] ?? '') === '' || (key === 'os' && system === undefined));
}
