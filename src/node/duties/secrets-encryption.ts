// The keys that encrypt Secrets in etcd: this master's file follows the Secret that the cluster keeps, and while a key
// is being replaced the Node says what kube-apiserver has loaded. Metrics are read only then: they are large.
import { join } from 'node:path';
import { loadedEncryptionAnnotation } from '../../contract/cluster-objects.ts';
import { waitingFor } from '../../contract/missing.ts';
import { localApiUrl } from '../../contract/ports.ts';
import { encryptionDigest, loadedEncryptionDigest, secretsEncryptionFile } from '../../contract/secrets-encryption.ts';
import { pkiFolder } from '../../control-plane/control-plane-paths.ts';
import { connectByLeaf } from '../../control-plane/machine-api-client.ts';
import { replaceMasterKey } from '../../control-plane/machine-credentials.ts';
import {
  type EncryptionState,
  findEncryptionState,
  publishEncryptionKeys,
} from '../../secrets-encryption/encryption-state.ts';
import type { Agent } from '../agent-context.ts';
import { acted, type Duty, settled, waiting } from '../duty.ts';

export const secretsEncryptionDuty: Duty = {
  name: 'secrets-encryption',
  roles: ['master'],
  // Only a master that has been told the keys of the cluster may publish its own: control-plane asks for them first.
  needs: ['control-plane'],
  ignoresRingsWhenSettled: true,
  tickMs: 5_000,
  settledTickMs: 10_000,
  run: async (agent) => {
    const { host, signal } = agent;
    const followed = await followEncryptionKeys(agent);
    if (followed.state === undefined) {
      const text = await host.files.readText(join(pkiFolder, secretsEncryptionFile));
      await publishEncryptionKeys(await agent.api(), text, { signal });
      return acted('published the keys that encrypt Secrets');
    }
    if (followed.isChanged) return acted('took over the keys that encrypt Secrets');
    if (followed.state.rotatingTo === undefined) return settled();
    return reportLoaded(agent, followed.state);
  },
};

interface FollowedKeys {
  /** Undefined while no master has published the keys. */
  readonly state: EncryptionState | undefined;
  readonly isChanged: boolean;
}

/** Brings the file of this master up to date; kube-apiserver reads it again within a minute. */
export async function followEncryptionKeys({ host, api, signal }: Agent): Promise<FollowedKeys> {
  const state = await findEncryptionState(await api(), { signal });
  if (state === undefined) return { state, isChanged: false };
  return { state, isChanged: await replaceMasterKey(host, secretsEncryptionFile, state.text) };
}

async function reportLoaded(agent: Agent, { text }: EncryptionState): ReturnType<Duty['run']> {
  const { node, signal } = agent;
  const wanted = encryptionDigest(text);
  const reference = { apiVersion: 'v1', kind: 'Node', name: node.name } as const;
  const client = await agent.api();
  const { metadata } = await client.get(reference, { signal });
  if (metadata.annotations?.[loadedEncryptionAnnotation] === wanted) return settled();
  if ((await loadedByOwnServer(agent)) !== wanted) {
    return waiting(waitingFor('kube-apiserver', 'to load the keys that encrypt Secrets'));
  }
  const annotations = { [loadedEncryptionAnnotation]: wanted };
  await client.mergePatch(reference, { metadata: { annotations } }, { signal });
  return acted('reported the keys that kube-apiserver has loaded');
}

async function loadedByOwnServer({ host, signal }: Agent): Promise<string | undefined> {
  await using local = await connectByLeaf(host, 'node-agent', localApiUrl);
  const metrics = await local?.getRaw('/metrics', { signal });
  return metrics?.status === 200 ? loadedEncryptionDigest(metrics.text) : undefined;
}
