// Adds a cluster to the kubeconfig of the user. Entries of the same name are replaced, all others stay as they are.
// Names contain the cluster's id, so that two clusters called demo have different entries.
import { dirname } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';
import type { Host } from '../host/host.ts';
import { toYaml } from '../kubernetes/yaml.ts';

const entry = z.looseObject({ name: z.string() });
const schema = z.looseObject({
  clusters: z.array(entry).nullish(),
  users: z.array(entry).nullish(),
  contexts: z.array(entry).nullish(),
});
type Kubeconfig = z.output<typeof schema>;

/** The merged text; `added` is renamed to `name` and becomes the current context. */
export function mergedKubeconfig(existing: string, added: string, name: string): string {
  const before = schema.parse(parse(existing) ?? { apiVersion: 'v1', kind: 'Config' });
  const next = schema.parse(parse(added));
  const user = `admin@${name}`;
  const merged: Kubeconfig = {
    ...before,
    clusters: replaced(before.clusters, next.clusters, name),
    users: replaced(before.users, next.users, user),
    contexts: replaced(before.contexts, [{ name, context: { cluster: name, user } }], name),
    'current-context': name,
  };
  return toYaml(merged);
}

type Entries = Kubeconfig['clusters'];

function replaced(before: Entries, added: Entries, name: string): Entries {
  const others = (before ?? []).filter((one) => one.name !== name);
  return [...others, ...(added ?? []).slice(0, 1).map((one) => ({ ...one, name }))];
}

export interface MergeTarget {
  /** The kubeconfig of the cluster. */
  readonly from: string;
  /** The kubeconfig of the user. */
  readonly into: string;
  readonly name: string;
}

export async function mergeKubeconfig(host: Host, { from, into, name }: MergeTarget): Promise<void> {
  const before = Buffer.from((await host.files.readIfPresent(into)) ?? '').toString('utf8');
  await host.files.makeFolder(dirname(into), { mode: 0o700 });
  await host.files.write(into, mergedKubeconfig(before, await host.files.readText(from), name), { mode: 0o600 });
}
