// Where the secrets of a bootstrap, and those that the cluster made for itself, are on the disks of the machines when it
// is over, and where none may be.
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { masters } from '../fire/fire-cluster.ts';
import { needlesOf, secretsOfFolder, secretsOfIgnition, whereOnDisks } from '../secret-search.ts';
import { type TrustCluster, trustKubectlJson } from '../trust/trust-cluster.ts';

const signers = ['config-server', 'etcd', 'apiserver-serving', 'control-plane-client', 'kubelet', 'front-proxy'].map(
  (n) => `${n}-signer`,
);

/** Besides the folder of the machine: what a component signs with is in the component's own folder too. */
const copies: Readonly<Record<string, readonly string[]>> = {
  'kubelet-signer.key': ['kube-controller-manager'],
  'service-account.key': ['kube-apiserver', 'kube-controller-manager'],
  'secrets-encryption.json': ['kube-apiserver'],
};

interface MadeSecret {
  readonly metadata: { readonly name: string };
  readonly type: string;
  readonly data?: Readonly<Record<string, string>>;
}

export function diskSecretsTopic(cluster: TrustCluster): void {
  test('of bootstrap.ign are on the masters where they belong, and on no other disk', () => {
    const placesOf = (file: string): readonly string[] =>
      masters
        .flatMap((master) =>
          ['pki', ...(copies[file] ?? [])].map((place) => `${master}:/upper/etc/kubernetes/${place}/${file}`),
        )
        .sort();
    const found = whereOnDisks(
      cluster.infraId(),
      secretsOfIgnition(join(cluster.dir, 'bootstrap.ign')),
      cluster.folder,
    );
    const allowed = new Map([
      ...[...signers, 'service-account'].map(
        (name) => [`/opt/firstlight/tls/${name}.key`, placesOf(`${name}.key`)] as const,
      ),
      ['/opt/firstlight/tls/secrets-encryption.json', placesOf('secrets-encryption.json')],
      // The bootstrap machine served with it; every master makes its own.
      ['/opt/firstlight/tls/machine-config-server.key', []],
      ['/opt/firstlight/auth/kubeconfig-loopback', []],
    ]);
    expect(found).toEqual(allowed);
  });

  test('that were made in the cluster are on no disk: keys of signers and servers, and the password of the registry', async () => {
    const { items } = await trustKubectlJson<{ items: readonly MadeSecret[] }>(cluster, 'get', 'secrets', '-A');
    const made = items.flatMap(({ metadata, type, data = {} }) => {
      const field = { 'kubernetes.io/tls': 'tls.key', 'kubernetes.io/basic-auth': 'password' }[type];
      const text = Buffer.from(data[field ?? ''] ?? '', 'base64').toString('utf8');
      return field === undefined ? [] : [[metadata.name, field === 'password' ? [text] : needlesOf(text)] as const];
    });
    const servers = ['metrics-server-tls', 'registry-tls', 'router-certs-default'];
    const expected = ['registry-password', ...servers.flatMap((name) => [name, `${name}-signer`])].sort();
    expect(made.map(([name]) => name).sort()).toEqual(expected);
    expect(made.filter(([, needles]) => needles.every((needle) => needle.length < 20))).toEqual([]);
    const found = whereOnDisks(cluster.infraId(), new Map(made), cluster.folder);
    expect(Object.fromEntries(found)).toEqual(Object.fromEntries(made.map(([name]) => [name, []])));
  });

  test('that only the workstation holds are on no machine', () => {
    const here = secretsOfFolder(join(cluster.dir, 'tls'));
    const found = whereOnDisks(
      cluster.infraId(),
      new Map([...here].filter(([name]) => /^(root-ca|admin|break-glass)/.test(name))),
      cluster.folder,
    );
    expect(Object.fromEntries(found)).toEqual({ 'admin.key': [], 'break-glass-admin.key': [], 'root-ca.key': [] });
  });
}
