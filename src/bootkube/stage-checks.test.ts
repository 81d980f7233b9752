import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { copyOfMachine, type MachineWithApi, renderedMachine, runOn } from '../../test/machine-with-api.ts';
import { podFile } from '../control-plane/control-plane-paths.ts';
import { machineFolders } from './context.ts';
import { stageFolder, treeDigests, verifyStage } from './render-stage.ts';
import { stageNumbered, stages } from './stages.ts';

/** A machine that has run all fifteen stages, and an API that has what was seeded. */
let whole: MachineWithApi;
beforeAll(async () => {
  const overrides = [{ kind: 'Deployment', group: 'apps', namespace: 'kube-system', name: 'coredns', unmanaged: true }];
  const version = { apiVersion: 'config.openshift.io/v1', kind: 'ClusterVersion', metadata: { name: 'version' } };
  const manifest = JSON.stringify({ ...version, spec: { overrides } });
  whole = await renderedMachine((host) =>
    host.files.write(`${machineFolders.assets}/manifests/overrides.yaml`, manifest),
  );
  await runOn(whole, stages);
});

async function verdict({ context, host }: MachineWithApi, number: number): Promise<void> {
  const stage = stageNumbered(number);
  await verifyStage(context, stage, await treeDigests(host.files, join(context.folders.render, stageFolder(stage))));
}

const inStage = (number: number, path: string): string =>
  join(machineFolders.render, stageFolder(stageNumbered(number)), path);

const rewrite =
  (path: string, change: (text: string) => string) =>
  async ({ host }: MachineWithApi): Promise<void> => {
    await host.files.makeFolder(join(path, '..'));
    const before = Buffer.from((await host.files.readIfPresent(path)) ?? '').toString('utf8');
    const after = change(before);
    expect(after).not.toBe(before);
    await host.files.write(path, after);
  };

const otherImage = (text: string): string => text.replace(/image: .*/, 'image: elsewhere.test/image:latest');
const secretVolume = (text: string): string => text.replace(/hostPath:\n *path: .*\n *type: .*/, 'secret: {}');

/** What a stage could have got wrong, and what its checks say of it. */
const wrongOutputs: readonly (readonly [number, (machine: MachineWithApi) => Promise<void> | void, RegExp])[] = [
  [1, rewrite(inStage(1, 'strange.yaml'), () => 'kind: NoName\n'), /strange.yaml: an object without apiVersion/],
  [
    2,
    rewrite(inStage(2, 'images.env'), (text) => text.replace(/^ETCD_IMAGE=.*$/m, 'ETCD_IMAGE=etcd:latest')),
    /ETCD_IMAGE is etcd:latest/,
  ],
  [
    3,
    rewrite(inStage(3, 'kube-apiserver/tls.json'), (text) => text.replace('/kube-apiserver.key"', '/other.key"')),
    /other.key is none of the mounted secrets/,
  ],
  [
    3,
    rewrite(inStage(3, 'crd-machineconfigpools.machineconfiguration.openshift.io.yaml'), (text) =>
      text.replace('served: true', 'served: false'),
    ),
    /no version of machineconfigpools.machineconfiguration.openshift.io is served/,
  ],
  [
    4,
    rewrite(inStage(4, 'authentication.yaml'), (text) => text.replace('/livez', '/api')),
    /anonymous.conditions.0.path/,
  ],
  [5, rewrite(inStage(5, 'kube-scheduler/kube-scheduler.key'), () => ''), /kube-scheduler: .*private key/],
  [
    5,
    ({ host }) => host.files.remove(inStage(5, 'kube-apiserver/service-account.pub')),
    /kube-apiserver\/service-account.pub is missing/,
  ],
  [
    5,
    rewrite(inStage(5, 'cluster/networks.yaml'), (text) => text.replace('networkType:', 'networkTyp:')),
    /networks.yaml: spec.networkType is missing/,
  ],
  [
    6,
    rewrite(inStage(6, 'addons/0000_70_dns_coredns.yaml'), otherImage),
    /elsewhere.test\/image:latest is not in the release/,
  ],
  [
    6,
    rewrite(inStage(6, 'addons/0000_70_dns_coredns.yaml'), (text) =>
      text.replace(/clusterIP: .*/, 'clusterIP: "{{DNS_ADDRESS}}"'),
    ),
    /0000_70_dns_coredns.yaml: \{\{DNS_ADDRESS\}\} is not filled in/,
  ],
  [
    7,
    rewrite(inStage(7, 'scaling.json'), (text) => text.replace('"maxLearners": 3', '"maxLearners": 5')),
    /no --max-learners=5/,
  ],
  [7, ({ host }) => host.files.remove(inStage(7, 'etcd/etcd-peer.crt')), /etcd-peer: it does not exist yet/],
  [8, rewrite(inStage(8, 'kube-apiserver-pod.yaml'), otherImage), /is not in the release/],
  [9, rewrite(inStage(9, 'kube-controller-manager-pod.yaml'), secretVolume), /a volume that is not a host path/],
  [
    10,
    rewrite(inStage(10, 'kube-scheduler-pod.yaml'), (text) => text.replace('kind: Pod', 'kind: [')),
    /kube-scheduler-pod.yaml/,
  ],
  [11, rewrite(inStage(11, 'router.yaml'), () => 'a: 1\n'), /router.yaml/],
  [
    12,
    rewrite(inStage(12, 'machine-pools/worker.yaml'), (text) => text.replaceAll('rendered-worker-', 'rendered-other-')),
    /machine-pools\/worker.yaml: rendered-other-\S+ was not rendered/,
  ],
  [13, rewrite(podFile('kube-scheduler'), (text) => `${text}# by hand\n`), /kube-scheduler-pod.yaml is not in place/],
  [
    13,
    ({ api }) =>
      void [...api.objects.keys()].filter((path) => path.endsWith('/version')).map((path) => api.objects.delete(path)),
    /ClusterVersion version is of cluster none/,
  ],
  [
    14,
    ({ api }) => void Object.assign(api.find('ClusterVersion', 'version')?.['spec'] as object, { overrides: [] }),
    /it has \[\], the manifests say .*coredns/,
  ],
  [
    15,
    ({ api }) => void api.silent.add('api-int.demo.firstlight.test:6443'),
    /api-int.demo.firstlight.test:6443.*connection refused/,
  ],
];

describe('the checks of a stage', () => {
  test('there is at least one for each of the fifteen, and a wrong output for each here', () => {
    expect(stages.filter(({ verify }) => verify.length === 0)).toEqual([]);
    expect([...new Set(wrongOutputs.map(([number]) => number))]).toEqual(stages.map(({ number }) => number));
  });

  test('pass on what the stages themselves did', async () => {
    for (const { number } of stages) await expect(verdict(whole, number)).resolves.toBeUndefined();
  });

  test.each(wrongOutputs)('stage %i refuses a wrong output (case %#)', async (number, spoil, reason) => {
    const machine = await copyOfMachine(whole);
    await spoil(machine);
    await expect(verdict(machine, number)).rejects.toMatchObject({
      code: 'WORKFLOW_VERIFY',
      message: expect.stringMatching(reason) as string,
    });
  });
});
