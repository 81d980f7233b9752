import { beforeAll, describe, expect, test } from 'vitest';
import { apiserverConfigFiles, kubernetesFolder } from '../contract/machine-paths.ts';
import { type FakeHost, fakeHost } from '../host/fake/fake-host.ts';
import { issueSigner } from '../pki/issue.ts';
import { leafProfiles, signerProfiles } from '../pki/profiles.ts';
import { apiserverPod } from './apiserver-pod.ts';
import { type ControlPlaneComponent, controlPlaneComponents, holdingOf } from './component-holdings.ts';
import { componentFolder, pkiFolder } from './control-plane-paths.ts';
import { controllerManagerPod } from './controller-manager-pod.ts';
import { etcdMemberFlags } from './etcd-member.ts';
import { etcdPod } from './etcd-pod.ts';
import { ensureMachineCredentials, heldSigners } from './machine-credentials.ts';
import { schedulerPod } from './scheduler-pod.ts';

interface Pod {
  readonly spec: {
    readonly securityContext: object;
    readonly containers: readonly [{ readonly command: readonly string[]; readonly securityContext: object }];
    readonly volumes: readonly { readonly hostPath: { readonly path: string } }[];
  };
}

const serviceNetwork = '172.30.0.0/16';
const founder = { name: 'm', peerUrl: 'https://10.0.0.1:2380' };
const flags = etcdMemberFlags({
  name: 'm',
  address: '10.0.0.1',
  clusterToken: 'c',
  initialCluster: [founder],
  initialState: 'new',
  masters: 3,
});
const network = { podNetwork: '10.128.0.0/14', podPrefix: 23, serviceNetwork };
const pods: Readonly<Record<ControlPlaneComponent, object>> = {
  etcd: etcdPod({ image: 'etcd', flags }),
  'kube-apiserver': apiserverPod({ image: 'k', advertiseAddress: '10.0.0.1', serviceNetwork }),
  'kube-controller-manager': controllerManagerPod({ image: 'k', clusterName: 'demo', ...network }),
  'kube-scheduler': schedulerPod({ image: 'k' }),
};
const podOf = (component: ControlPlaneComponent): Pod => pods[component] as Pod;

let host: FakeHost;

beforeAll(async () => {
  host = fakeHost();
  await host.files.makeFolder(pkiFolder);
  for (const name of heldSigners) {
    const issuing = { random: host.random, now: host.clock.now() };
    const { certificatePem, key } = issueSigner(signerProfiles[name], issuing);
    await host.files.write(`${pkiFolder}/${name}.crt`, certificatePem);
    await host.files.write(`${pkiFolder}/${name}.key`, key.privatePem.reveal());
  }
  await host.files.write(`${pkiFolder}/service-account.key`, 'key');
  await host.files.write(`${pkiFolder}/service-account.pub`, 'public');
  await host.files.write(`${pkiFolder}/secrets-encryption.json`, '{}');
  // Ignition writes these, for root.
  await host.files.makeFolder(componentFolder('kube-apiserver'));
  for (const path of Object.values(apiserverConfigFiles)) await host.files.write(path, 'text');
  const cluster = { domain: 'demo.firstlight.test', serviceAddresses: [], apiVips: [] };
  const facts = { cluster, machine: { name: 'master-0', addresses: ['10.0.0.1'] } };
  await ensureMachineCredentials({ host, facts, clusterName: 'demo' });
});

describe.each(controlPlaneComponents)('%s', (component) => {
  const folder = componentFolder(component);

  test('is told of no file below /etc/kubernetes but those in its own folder, and they are there', async () => {
    const named = podOf(component).spec.containers[0].command.flatMap((argument) => {
      return argument.match(new RegExp(`${kubernetesFolder}/[^,]*`, 'g')) ?? [];
    });
    expect(named.length).toBeGreaterThan(0);
    const present = ((await host.files.list(folder)) ?? []).map((name) => `${folder}/${name}`);
    for (const path of named) expect(present).toContain(path);
  });

  test('sees of the host its own folder and what it writes to, as a user of its own without capabilities', () => {
    const { spec } = podOf(component);
    const { uid, writes } = holdingOf(component);
    expect(spec.volumes.map(({ hostPath }) => hostPath.path)).toEqual([folder, ...writes]);
    expect(spec.securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: uid, runAsGroup: uid });
    expect(spec.containers[0].securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
  });

  test('owns its files, and nobody else reads its keys', async () => {
    const { uid } = holdingOf(component);
    expect(await host.files.facts(folder)).toMatchObject({ mode: 0o750, uid: 0, gid: uid });
    for (const name of (await host.files.list(folder)) ?? []) {
      const facts = await host.files.facts(`${folder}/${name}`);
      expect({ name, uid: facts?.uid, mode: facts?.mode }).toEqual({
        name,
        uid,
        mode: /\.(crt|pub|yaml)$/.test(name) ? 0o644 : 0o600,
      });
    }
  });
});

describe('keys of a control-plane machine', () => {
  const holdersOf = async (file: string): Promise<readonly string[]> => {
    const folders = controlPlaneComponents.map(async (component) => {
      return ((await host.files.list(componentFolder(component))) ?? []).includes(file) ? [component] : [];
    });
    return (await Promise.all(folders)).flat();
  };

  test('no signer is in the folder of a component, but the one that the controller manager signs with', async () => {
    for (const signer of heldSigners) {
      const expected = signer === 'kubelet-signer' ? ['kube-controller-manager'] : [];
      expect(await holdersOf(`${signer}.key`)).toEqual(expected);
    }
  });

  test('a leaf is in one folder only; the key of service accounts is in those of its two signers', async () => {
    for (const leaf of Object.keys(leafProfiles)) expect((await holdersOf(`${leaf}.key`)).length).toBeLessThan(2);
    expect(await holdersOf('service-account.key')).toEqual(['kube-apiserver', 'kube-controller-manager']);
  });

  test('users are other ones', () => {
    const uids = controlPlaneComponents.map((component) => holdingOf(component).uid);
    expect(new Set(uids).size).toBe(uids.length);
  });
});
