// Takes away from a restored cluster what is about its lost control plane, through the API of this machine and before
// any controller runs: Nodes of masters, records of their members and of the handoff, unused tokens, holders of Leases.
// The inventory and the pool tokens become those of the asset folder, from which the machines are made.
import { tokenSecretType } from '../../admission/bootstrap-token-secret.ts';
import { type PoolTokenDigests, poolTokenDigestsSchema } from '../../admission/pool-token.ts';
import { handoffMark } from '../../contract/bootstrap-paths.ts';
import { inventoryConfigMap, inventoryKey, poolTokensSecret, systemNamespace } from '../../contract/cluster-objects.ts';
import { inventoryText } from '../../contract/inventory.ts';
import { configServerPaths } from '../../contract/machine-paths.ts';
import { working } from '../../contract/stage-progress.ts';
import { pkiFolder } from '../../control-plane/control-plane-paths.ts';
import type { ApiCallOptions, KubernetesClient } from '../../kubernetes/client.ts';
import type { Lease } from '../../kubernetes/lease-object.ts';
import { type KubernetesObject, referenceOf } from '../../kubernetes/object.ts';
import type { StageTools } from '../../workflow/stage.ts';
import { firstClient } from '../api-clients.ts';
import type { BootkubeContext } from '../context.ts';
import { acceptedTokens, type RestoredObjects, staleObjects } from './stale-objects.ts';

export async function clearStaleObjects(context: BootkubeContext, { signal, report }: StageTools): Promise<void> {
  const { host, restore, inventory } = context;
  if (restore === undefined || (await host.files.facts(handoffMark)) !== undefined) return;
  const call = { signal };
  await using client = await firstClient(host, pkiFolder);
  const seen = await restoredObjects(client, call);
  const { toDelete, toRelease } = staleObjects(seen, { inventory, beganAt: new Date(restore.beganAt) });
  report(working(`${toDelete.length} objects of the lost control plane are removed`));
  for (const object of toDelete) {
    const { uid } = object.metadata;
    await client.delete(referenceOf(object), { ...call, ...(uid === undefined ? {} : { uid }) });
  }
  for (const lease of toRelease) {
    const spec = { ...lease.spec, holderIdentity: '', leaseDurationSeconds: 1 };
    await client.replace({ ...lease, spec }, call);
  }
  await client.mergePatch(inventoryConfigMap, { data: { [inventoryKey]: inventoryText(inventory) } }, call);
  await acceptOwnTokens(context, client, call);
}

/** The pool tokens of the new masters are younger than the backup, and a master that serves already must know them. */
async function acceptOwnTokens(
  { host }: BootkubeContext,
  client: KubernetesClient,
  call: ApiCallOptions,
): Promise<void> {
  const { name, namespace, key } = poolTokensSecret;
  const reference = { apiVersion: 'v1', kind: 'Secret', name, namespace };
  const read = (text: string): PoolTokenDigests => poolTokenDigestsSchema.parse(JSON.parse(text));
  const own = read(await host.files.readText(configServerPaths.poolTokens));
  const { data } = await client.get<KubernetesObject>(reference, call);
  const stored = (data as Readonly<Record<string, string>> | undefined)?.[key];
  const known = stored === undefined ? {} : read(Buffer.from(stored, 'base64').toString('utf8'));
  const text = `${JSON.stringify(acceptedTokens(known, own, host.clock.now()), null, 2)}\n`;
  await client.mergePatch(reference, { data: { [key]: Buffer.from(text).toString('base64') } }, call);
}

async function restoredObjects(client: KubernetesClient, call: ApiCallOptions): Promise<RestoredObjects> {
  const namespace = systemNamespace;
  const core = (kind: string) => ({ apiVersion: 'v1', kind });
  const [nodes, configMaps, tokens, leases] = await Promise.all([
    client.list(core('Node'), {}, call),
    client.list(core('ConfigMap'), { namespace }, call),
    client.list(core('Secret'), { namespace, fieldSelector: `type=${tokenSecretType}` }, call),
    client.list<Lease>({ apiVersion: 'coordination.k8s.io/v1', kind: 'Lease' }, { namespace }, call),
  ]);
  return { nodes: nodes.items, configMaps: configMaps.items, tokens: tokens.items, leases: leases.items };
}
