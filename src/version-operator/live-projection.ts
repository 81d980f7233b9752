// Whether an object in the cluster still is what was applied. Only fields that the release sets are looked at: others
// may add their own. Lists are compared whole, because an item has no name by which a stranger's could be told apart;
// where a stranger adds an item, one apply follows that changes nothing.
import type { KubernetesObject } from '../kubernetes/object.ts';
import { type Digest, digestOf } from '../workflow/digest.ts';

/** The part of `live` that `desired` has a word in. */
export function projectOnto(desired: unknown, live: unknown): unknown {
  if (!isRecord(desired) || !isRecord(live)) return live;
  return Object.fromEntries(Object.entries(desired).map(([key, value]) => [key, projectOnto(value, live[key])]));
}

/** To be remembered after an apply, and compared with that of the live object later. */
export function projectionDigest(desired: KubernetesObject, live: KubernetesObject): Digest {
  return digestOf(JSON.stringify(projectOnto(desired, live)));
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
