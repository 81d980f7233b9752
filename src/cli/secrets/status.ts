// `firstlight secrets status`
import type { EncryptionStatus } from '../../secrets-encryption/encryption-status.ts';
import { alignColumns } from '../frame/columns.ts';
import { defineVerb } from '../frame/verb.ts';

export const secretsStatusVerb = defineVerb({
  description: [
    'Shows by which key kube-apiserver encrypts Secrets in etcd and how old that key is. More than one key means that a',
    'rotation is not finished: then some Secrets may still be encrypted by an older key.',
  ].join(' '),
  examples: ['firstlight secrets status', 'firstlight secrets status -o json'],
  run: async ({ host, global, signal }) => {
    const { connectCluster } = await import('../../cluster/cluster-kubeconfig.ts');
    const { encryptionStatus } = await import('../../secrets-encryption/encryption-status.ts');
    await using client = await connectCluster(host, global.dir);
    const status = await encryptionStatus(client, { now: host.clock.now(), signal });
    return { data: status, text: statusText(status) };
  },
});

function statusText({ provider, keys, isRotating, masters }: EncryptionStatus): string {
  const [used] = keys;
  const age = used === undefined ? '' : used.ageDays === 1 ? 'a day' : `${used.ageDays} days`;
  const head = `Secrets are encrypted in etcd by ${used?.name} (${provider}), ${age} old\n`;
  if (!isRotating) return `${head}every Secret is encrypted by this key\n`;
  const names = keys.map(({ name }) => name).join(', ');
  const rows = masters.map(({ name, isReady, isUpToDate }) => [
    name,
    isReady ? 'Ready' : 'NotReady',
    isUpToDate ? 'loaded' : 'waits',
  ]);
  return [
    head,
    `a rotation is not finished; firstlight secrets rotate-key continues it. Keys: ${names}\n\n`,
    alignColumns([['MASTER', 'NODE', 'KEYS'], ...rows]),
  ].join('');
}
