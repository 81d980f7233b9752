// `firstlight secrets rotate-key`
import { defineVerb } from '../frame/verb.ts';

export const secretsRotateKeyVerb = defineVerb({
  description: [
    'Replaces the key by which kube-apiserver encrypts Secrets in etcd, while the cluster serves. Every master first',
    'learns to read the new key, then encrypts by it; then every Secret is written again, and the old key is removed.',
    'kube-apiserver looks at its keys once a minute, so this takes three to four minutes. All masters must be up.',
    'It can be interrupted at any moment: run it again and it continues. A backup that firstlight backup took before holds',
    'the keys of its time; with another copy of etcd, keep tls/secrets-encryption.json of that time.',
  ].join(' '),
  examples: ['firstlight secrets rotate-key', 'firstlight secrets status'],
  run: async ({ host, global, signal, emit }) => {
    const { join } = await import('node:path');
    const { claimFolder } = await import('../../cluster/cluster-dir.ts');
    const { connectCluster } = await import('../../cluster/cluster-kubeconfig.ts');
    const { mustFindCluster } = await import('../../cluster/find-cluster.ts');
    const { secretsEncryptionFile } = await import('../../contract/secrets-encryption.ts');
    const { rotateKey } = await import('../../secrets-encryption/rotate-key.ts');
    await mustFindCluster(host, global.dir);
    await using _ = await claimFolder(host, global.dir, 'secrets rotate-key');
    await using client = await connectCluster(host, global.dir);
    const copy = join(global.dir, 'tls', secretsEncryptionFile);
    const onRotated = (text: string): Promise<void> => host.files.write(copy, text, { mode: 0o600 });
    const rotation = await rotateKey({ client, host, signal, emit, onRotated });
    const { key, rewritten } = rotation;
    return { data: rotation, text: `${key} encrypts all Secrets; ${rewritten} were written again\n` };
  },
});
