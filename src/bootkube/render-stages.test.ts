import { basename, join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { bootedMachine, bootedRelease } from '../../test/booted-machine.ts';
import { releaseReferenceFile } from '../contract/machine-paths.ts';
import { ownLeaves } from '../control-plane/machine-credentials.ts';
import { Crash, type FakeDisk } from '../host/fake/fake-files.ts';
import { type FakeHost, fakeHost } from '../host/fake/fake-host.ts';
import type { FileNode } from '../ignition/config.ts';
import { readInlineContents } from '../ignition/inline-contents.ts';
import { payloadTexts } from '../operators/payload-files.ts';
import { releasePayload } from '../release/release-payload.ts';
import { dockerVersionsFor } from '../torcx/kubernetes-version.ts';
import { readJournal } from '../workflow/journal.ts';
import { type BootkubeContext, loadContext, machineFolders } from './context.ts';
import { renderStages } from './render-stages.ts';
import { runBootkubeStages } from './run-service.ts';

const journalFile = '/var/lib/firstlight/bootkube/journal';

async function render(host: FakeHost): Promise<BootkubeContext> {
  const context = await loadContext(host, () => {});
  const { signal } = new AbortController();
  const claim = { purpose: 'test', patienceMs: 0 };
  await runBootkubeStages({ context, stages: renderStages, emit: () => {}, signal, ...claim });
  return context;
}

interface SecretMounts {
  readonly files: readonly { readonly name: string }[];
}

let host: FakeHost;
/** Its disk before the first stage, and how many changes the stages made. */
let booted: FakeDisk;
let renderChanges: number;
beforeAll(async () => {
  host = await bootedMachine();
  booted = copyOf(host.disk);
  await render(host);
  renderChanges = host.disk.changes - booted.changes;
});
const rendered = (path: string): Promise<string> => host.files.readText(`${machineFolders.render}/${path}`);

describe('the stages that render', () => {
  test('are numbered 1 to 12 and say why they exist', () => {
    expect(renderStages.map((stage) => stage.number)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
    for (const stage of renderStages) expect(stage.why).toMatch(/\.$/);
  });

  test('only stage 11 has nothing to render', async () => {
    for (const stage of renderStages) {
      const folder = `${machineFolders.render}/${String(stage.number).padStart(2, '0')}-${stage.name}`;
      const isEmpty = ((await host.files.list(folder)) ?? []).length === 0;
      expect(isEmpty, stage.name).toBe(stage.number === 11);
    }
  });

  test('the configuration of every machine names the release that it belongs to', async () => {
    const names = (await host.files.list(`${machineFolders.render}/12-machine-config/machine-configs`)) ?? [];
    expect(names.length).toBeGreaterThan(1);
    for (const name of names) {
      const text = await rendered(`12-machine-config/machine-configs/${name}`);
      const { spec } = JSON.parse(text) as { spec: { config: { storage: { files: FileNode[] } } } };
      const file = spec.config.storage.files.find(({ path }) => path === releaseReferenceFile);
      const read = readInlineContents(file?.contents ?? {});
      expect(JSON.parse(Buffer.from(read.status === 'inline' ? read.bytes : '').toString('utf8')), name).toEqual({
        releaseImage: bootedRelease,
        daemonImage: `release.firstlight.internal/firstlight@sha256:${'a'.repeat(64)}`,
      });
    }
  });

  test('the etcd pod founds a cluster of one, at the address of this machine', async () => {
    const pod = parse(await rendered('07-etcd/etcd-pod.yaml')) as { spec: { containers: { command: string[] }[] } };
    const command = pod.spec.containers[0]?.command ?? [];
    expect(command).toContain('--initial-cluster=etcd-bootstrap=https://10.99.0.10:2380');
    expect(command).toContain('--initial-cluster-state=new');
    expect(command).toContain('--max-learners=3');
  });

  test('the API server is begun in stage 3, with its secrets and its TLS, and stage 8 adds the program alone', async () => {
    const text = await rendered('08-kube-apiserver/kube-apiserver-pod.yaml');
    const pod = parse(text) as { spec: { containers: { image: string; command: string[]; env: object[] }[] } };
    const [{ image, command, env, ...rest } = { image: '', command: [], env: [] }] = pod.spec.containers;
    expect(parse(await rendered('03-api/kube-apiserver/pod-skeleton.yaml'))).toEqual({
      ...pod,
      spec: { ...pod.spec, containers: [rest] },
    });
    const tls = JSON.parse(await rendered('03-api/kube-apiserver/tls.json')) as Record<string, string>;
    expect(Object.keys(tls).length).toBeGreaterThan(10);
    for (const [flag, value] of Object.entries(tls)) expect(command).toContain(`--${flag}=${value}`);
    const { files } = JSON.parse(await rendered('03-api/kube-apiserver/secret-mounts.json')) as SecretMounts;
    const made = await Promise.all(
      ['05-config', '07-etcd'].map((stage) => host.files.list(`${machineFolders.render}/${stage}/kube-apiserver`)),
    );
    expect(files.map(({ name }) => name).sort()).toEqual(made.flatMap((names) => names ?? []).sort());
    expect([image, env]).toEqual([expect.stringContaining('/kubernetes@sha256:'), [{ name: 'GOGC', value: '300' }]]);
  });

  test('what the install-config asks for is in the configuration objects of stage 5, without credentials', async () => {
    const proxied = await bootedMachine(
      'controlPlane: {replicas: 1}\ncompute: [{replicas: 0}]\nsecurity: {auditLog: request}\n' +
        'authentication: {jwt: [{issuer: {url: "https://login.test/staff", audiences: [kubernetes]}, ' +
        'claimMappings: {username: {claim: sub, prefix: "oidc:"}}}]}\n' +
        'proxy: {httpsProxy: "http://somebody:hidden@proxy.test:3128", noProxy: .inside.test}\n',
    );
    await render(proxied);
    const read = async (name: string): Promise<string> =>
      proxied.files.readText(`${machineFolders.render}/05-config/cluster/${name}.yaml`);
    expect(parse(await read('infrastructures'))).toMatchObject({
      metadata: { name: 'cluster' },
      spec: { platform: 'local', machineNetworks: ['10.99.0.0/24'] },
      status: { apiServerURL: 'https://api.demo.firstlight.test:6443', controlPlaneTopology: 'SingleReplica' },
    });
    expect(parse(await read('proxies'))).toMatchObject({
      spec: { httpsProxy: 'http://proxy.test:3128', noProxy: '.inside.test' },
      status: { noProxy: expect.stringContaining('.cluster.local') as string },
    });
    expect(parse(await read('apiservers'))).toMatchObject({ spec: { audit: { profile: 'WriteRequestBodies' } } });
    expect(parse(await read('oauths'))).toMatchObject({
      spec: {
        identityProviders: [
          {
            name: 'login.test',
            type: 'OpenID',
            openID: { issuer: 'https://login.test/staff', audiences: ['kubernetes'] },
          },
        ],
      },
    });
    expect(parse(await read('schedulers'))).toMatchObject({ spec: { mastersSchedulable: true } });
    expect(parse(await read('dnses'))).toMatchObject({ spec: { baseDomain: 'demo.firstlight.test' } });
    const names = (await proxied.files.list(`${machineFolders.render}/05-config/cluster`)) ?? [];
    expect(names.filter((name) => name.startsWith('crd-'))).toHaveLength(8);
    expect(names.filter((name) => !name.startsWith('crd-'))).toHaveLength(8);
    for (const name of names) expect(await read(name.replace(/\.yaml$/, ''))).not.toContain('hidden');
  });

  test('stage 7 has the certificates of etcd and of its clients, and the figures by which it grows', async () => {
    const folder = `${machineFolders.render}/07-etcd`;
    expect(await host.files.list(`${folder}/etcd`)).toEqual([
      'etcd-peer.crt',
      'etcd-peer.key',
      'etcd-server.crt',
      'etcd-server.key',
    ]);
    expect(await host.files.list(`${folder}/kube-apiserver`)).toContain('apiserver-etcd-client.crt');
    expect(await host.files.list(`${folder}/pki`)).toContain('etcd-membership-client.crt');
    expect(JSON.parse(await rendered('07-etcd/scaling.json'))).toMatchObject({
      founder: 'etcd-bootstrap',
      voters: 3,
      votersAtMost: 4,
      maxLearners: 3,
      limits: { fsyncLimitMs: 500, neededDiskBytes: 2 ** 30 },
    });
  });

  test('feature gates of the install-config are flags of all three that know them', async () => {
    const gated = await bootedMachine('featureSet: CustomNoUpgrade\nfeatureGates: [One=true, Two=false]\n');
    await render(gated);
    for (const [stage, component] of [
      ['08-kube-apiserver', 'kube-apiserver'],
      ['09-controller-manager', 'kube-controller-manager'],
      ['10-scheduler', 'kube-scheduler'],
    ]) {
      const pod = `${stage}/${component}-pod.yaml`;
      const text = await gated.files.readText(`${machineFolders.render}/${pod}`);
      expect(text).toContain('- --feature-gates=One=true,Two=false\n');
      expect(await rendered(pod)).not.toContain('feature-gates');
    }
  });

  test('a cluster with nodeBootstrap: torcx ships the Kubernetes of the release as ConfigMap and as files', async () => {
    const prepared = await bootedMachine('nodeBootstrap: torcx\n');
    await render(prepared);
    const manifests = `${machineFolders.render}/01-manifests`;
    const objects = (await prepared.files.readText(`${manifests}/torcx-runtime-mappings.yaml`)).split('---\n');
    const configMap = parse(objects[1] ?? '') as { readonly data: Readonly<Record<string, string>> };
    expect(configMap.data['kubelet.env']).toBe('KUBELET_IMAGE_TAG="v1.37.1"\n');
    expect(dockerVersionsFor('1.37', configMap.data['runtime-mappings.yaml'] ?? '', 'ConfigMap')).toEqual([
      '17.03',
      '1.12',
    ]);
    const controllerConfig = await prepared.files.readText(`${manifests}/machine-config.yaml`);
    expect(parse(controllerConfig)).toMatchObject({
      spec: {
        kubeletEnvironment: { KUBELET_IMAGE_TAG: 'v1.37.1' },
        nodeBootstrap: { torcx: { runtimeMappings: configMap.data['runtime-mappings.yaml'] } },
      },
    });
    expect(await host.files.facts(`${manifests}/torcx-runtime-mappings.yaml`)).toBeUndefined();
    expect(await rendered('01-manifests/machine-config.yaml')).toContain('machineConfigOperatorImage');
  });

  test('every component has its image variable, by digest', async () => {
    const text = await rendered('02-release-info/images.env');
    for (const name of [
      'KUBE_APISERVER_OPERATOR_IMAGE',
      'ETCD_OPERATOR_IMAGE',
      'MACHINE_CONFIG_OPERATOR_IMAGE',
      'CLUSTER_BOOTSTRAP_IMAGE',
    ]) {
      expect(text).toMatch(new RegExp(`^${name}=.*@sha256:[0-9a-f]{64}$`, 'm'));
    }
  });

  test('every container runs an image by digest, add-ons included', async () => {
    const images: string[] = [];
    const visit = async (folder: string): Promise<void> => {
      for (const name of (await host.files.list(folder)) ?? []) {
        const path = `${folder}/${name}`;
        if ((await host.files.facts(path))?.kind === 'folder') await visit(path);
        else images.push(...((await host.files.readText(path)).match(/(?<=^[ -]*image: )\S+$/gm) ?? []));
      }
    };
    await visit(machineFolders.render);
    expect(images).toContainEqual(expect.stringContaining('/coredns@sha256:'));
    expect(images.filter((image) => !/@sha256:[0-9a-f]{64}$/.test(image))).toEqual([]);
  });

  test('stage 6 has the files of the release image, with the values of this cluster, by who applies them first', async () => {
    const { release, names } = await loadContext(host, () => {});
    const folder = `${machineFolders.render}/06-version-operator`;
    const inFolder = async (name: string): Promise<readonly string[]> => {
      const paths = ((await host.files.list(`${folder}/${name}`)) ?? []).map((file) => join(name, file));
      return paths.filter((path) => path.endsWith('.yaml'));
    };
    const [seeded, addons, rest] = [await inFolder(''), await inFolder('addons'), await inFolder('payload')];
    const texts = payloadTexts(releasePayload(release));
    const made = ['0000_00_cluster-version.yaml', '0000_80_machine-config_in-place-facts.yaml'];
    const files = [...seeded, ...addons, ...rest].filter((path) => !made.includes(basename(path)));
    expect(files.map((path) => basename(path)).toSorted()).toEqual(
      Object.keys(texts)
        .flatMap((path) => (path.endsWith('.yaml') ? [basename(path)] : []))
        .toSorted(),
    );
    for (const path of seeded) expect(await rendered(`06-version-operator/${path}`)).not.toMatch(/^kind: Deployment$/m);
    expect(addons).toContain('addons/0000_70_dns_coredns.yaml');
    const dns = texts['release-manifests/0000_70_dns_coredns.yaml'] ?? '';
    expect(await rendered('06-version-operator/addons/0000_70_dns_coredns.yaml')).toBe(
      dns.replace('"{{DNS_ADDRESS}}"', names.dnsAddress),
    );
  });

  test('a capability that the install-config turns off is in the ClusterVersion, and nobody applies it at once', async () => {
    const minimal = await bootedMachine('capabilities: {baselineCapabilitySet: None}\n');
    await render(minimal);
    const folder = `${machineFolders.render}/06-version-operator`;
    expect(await minimal.files.list(`${folder}/addons`)).not.toContain('0000_70_dns_coredns.yaml');
    expect(await minimal.files.list(`${folder}/payload`)).toContain('0000_70_dns_coredns.yaml');
    expect(parse(await minimal.files.readText(`${folder}/0000_00_cluster-version.yaml`))).toMatchObject({
      spec: { capabilities: { baselineCapabilitySet: 'None' } },
    });
  });

  test('each pool has a rendered configuration', async () => {
    const pools = await host.files.list(`${machineFolders.render}/12-machine-config/machine-pools`);
    expect(pools).toEqual(['master.yaml', 'worker.yaml']);
  });

  test('a check that fails stops the run, and the stage is not recorded as done', async () => {
    const strange = await bootedMachine();
    await strange.files.write(`${machineFolders.assets}/manifests/strange.yaml`, 'kind: NoName\n');
    await expect(render(strange)).rejects.toMatchObject({
      code: 'WORKFLOW_VERIFY',
      message:
        'stage manifests: every YAML file holds Kubernetes objects: strange.yaml: an object without apiVersion, kind or name',
    });
    expect((await readJournal(strange.files, journalFile)).length).toBe(0);
  });

  test('a second run renders nothing, and an altered byte makes only its stage run again', async () => {
    const changes = host.disk.changes;
    await render(host);
    expect(host.disk.changes).toBe(changes);
    const path = `${machineFolders.render}/08-kube-apiserver/kube-apiserver-pod.yaml`;
    const before = await host.files.readText(path);
    await host.files.write(path, `${before} `);
    await render(host);
    expect(await host.files.readText(path)).toBe(before);
  });

  // In a few tests, so that none of them is long: the first change, then every fifteenth part of all.
  test.each(Array.from({ length: 15 }, (_, part) => part))(
    'killed anywhere, the next run ends with the same pods and keeps every certificate it had (part %i of 15)',
    async (part) => {
      const crashAt = booted.changes + 1 + Math.floor((part * (renderChanges - 1)) / 14);
      const first = fakeHost({ disk: { ...copyOf(booted), crashAt }, seed: 'first' });
      await expect(render(first)).rejects.toBeInstanceOf(Crash);
      delete first.disk.crashAt;
      const had = certificatesOf(first);
      const again = fakeHost({ disk: first.disk, seed: `again ${crashAt}` });
      await render(again);
      expect(certificatesOf(again)).toMatchObject(had);
      if (part === 14) expect(Object.keys(had).length).toBeGreaterThan(ownLeaves.length);
      for (const pod of ['07-etcd/etcd-pod.yaml', '09-controller-manager/kube-controller-manager-pod.yaml']) {
        expect(await again.files.readText(`${machineFolders.render}/${pod}`)).toBe(await rendered(pod));
      }
    },
  );
});

function copyOf({ nodes, ...disk }: FakeDisk): FakeDisk {
  return { ...disk, nodes: new Map([...nodes].map(([path, node]) => [path, { ...node }])), locked: new Set() };
}

/** Every certificate that was rendered together with its key, by its path. */
function certificatesOf({ disk }: FakeHost): Readonly<Record<string, string>> {
  const found = [...disk.nodes].flatMap(([path, node]) => {
    const isWhole = path.endsWith('.crt') && disk.nodes.has(path.replace(/crt$/, 'key'));
    return isWhole && node.kind === 'file' && path.startsWith(machineFolders.render)
      ? [[path, node.content.toString('utf8')] as const]
      : [];
  });
  return Object.fromEntries(found);
}
