// The version operator before a real kube-apiserver and garbage collector: its own objects are taken, a payload is
// brought and kept, what strangers add stays, an idle pass changes nothing, and nobody deletes the ClusterVersion.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { payloadAnnotations, payloadFiles, versionOperator } from '../../src/contract/cluster-version.ts';
import { realHost } from '../../src/host/real/real-host.ts';
import { connectKubernetes } from '../../src/kubernetes/client.ts';
import type { KubernetesObject } from '../../src/kubernetes/object.ts';
import { toYamlDocuments } from '../../src/kubernetes/yaml.ts';
import { customResourceDefinition } from '../../src/machine-config/crds.ts';
import type { Operator } from '../../src/operators/operator.ts';
import { fillValues } from '../../src/operators/payload-values.ts';
import { versionOperatorFiles } from '../../src/version-operator/operator-manifests.ts';
import { runVersionOperator } from '../../src/version-operator/run-operator.ts';
import { type ControlPlaneProcesses, startControlPlane } from './control-plane-processes.ts';

const apiVersion = 'config.openshift.io/v1';
const image = 'registry.test/release@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef';
const stop = new AbortController();
const lines: string[] = [];
let plane: ControlPlaneProcesses;
let running: Promise<void> = Promise.resolve();

const included = (object: KubernetesObject): KubernetesObject => ({
  ...object,
  metadata: { ...object.metadata, annotations: { [payloadAnnotations.include]: 'true' } },
});

const containers = [{ name: 'app', image: 'registry.test/app:1', env: [{ name: 'DOMAIN', value: '{{APPS_DOMAIN}}' }] }];
const labels = { app: 'sample' };
const own = versionOperatorFiles(() => 'registry.test/firstlight:1');
const sample: readonly KubernetesObject[] = [
  { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'sample' } },
  { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'settings', namespace: 'sample' }, data: { key: 'value' } },
  {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'app', namespace: 'sample' },
    spec: { replicas: 0, selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers } } },
  },
  {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'app', namespace: 'sample' },
    spec: { selector: labels, clusterIP: '{{DNS_ADDRESS}}', ports: [{ name: 'http', port: 80 }] },
  },
];

/** Available as soon as the ConfigMap is there. */
const sampleOperator: Operator = {
  name: 'sample',
  why: 'a sample',
  level: 50,
  images: [],
  manifests: () => [],
  looksAt: [{ apiVersion: 'v1', kind: 'ConfigMap', namespace: 'sample', name: 'settings' }],
  judge: ({ version, objects }) => {
    const isSo = objects('ConfigMap').length > 0;
    const message = isSo ? 'the settings are there' : 'there are no settings';
    return {
      available: { isSo, reason: 'AsExpected', message },
      progressing: { isSo: !isSo, reason: 'AsExpected', message },
      degraded: { isSo: false, reason: 'AsExpected', message: '' },
      versions: { operator: version },
    };
  },
  relatedObjects: [{ group: '', resource: 'configmaps', namespace: 'sample', name: 'settings' }],
};

function writePayload(root: string): void {
  const folder = join(root, payloadFiles.folder);
  mkdirSync(folder, { recursive: true });
  const write = (name: string, text: string): void => writeFileSync(join(folder, name), text);
  for (const { name, objects } of own.slice(0, -1)) {
    write(`0000_00_${versionOperator.name}_${name}.yaml`, toYamlDocuments(objects.map(included)));
  }
  write('0000_50_sample_00.yaml', toYamlDocuments(sample.map(included)));
  write(payloadFiles.images, JSON.stringify({ kind: 'ImageStream', metadata: { name: '0.2.0' }, spec: { tags: [] } }));
  write(payloadFiles.metadata, JSON.stringify({ kind: 'cincinnati-metadata-v0', version: '0.2.0' }));
}

function apply(name: string, objects: readonly object[]): void {
  const path = join(plane.folder, name);
  writeFileSync(path, toYamlDocuments(objects));
  const { code, output } = plane.kubectl('apply', '--server-side', '--validate=strict', '-f', path);
  if (code !== 0) throw new Error(output);
}

/** What the bootstrap makes: the base of the operator, the configuration of the cluster, and the ClusterVersion. */
function seed(): void {
  const values = { API_HOST: 'api', API_PORT: '6443', RELEASE_IMAGE: image, RELEASE_VERSION: '', CLUSTER_ID: '' };
  const all = { ...values, DNS_ADDRESS: '', APPS_DOMAIN: '', PLATFORM: '' };
  for (const { name, objects } of own)
    apply(
      name,
      objects.map((object) => fillValues(object, all)),
    );
  const kinds = { Infrastructure: 'infrastructures', Network: 'networks', Ingress: 'ingresses' };
  const anything = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  const definitions = Object.entries(kinds).map(([kind, plural]) =>
    customResourceDefinition({
      group: 'config.openshift.io',
      kind,
      plural,
      spec: anything,
      status: anything,
      columns: [],
    }),
  );
  apply('kinds.yaml', definitions);
  plane.kubectl('wait', '--for=condition=Established', 'crd', '--all', '--timeout=30s');
  const metadata = { name: 'cluster' };
  apply('objects.yaml', [
    { apiVersion, kind: 'Network', metadata, spec: { serviceNetwork: ['172.30.0.0/16'] } },
    { apiVersion, kind: 'Ingress', metadata, spec: { domain: 'apps.demo.firstlight.test' } },
    { apiVersion, kind: 'Infrastructure', metadata, spec: { platform: 'local' } },
    {
      apiVersion,
      kind: 'ClusterVersion',
      metadata: { name: 'version' },
      spec: { clusterID: '5f0c9c9e-8a53-4f0c-9d3c-0a4f3c1f8f62' },
    },
  ]);
  const status = { status: { apiServerInternalURI: 'https://api-int.demo.firstlight.test:6443' } };
  plane.kubectl(
    'patch',
    'infrastructure',
    'cluster',
    '--type=merge',
    '--subresource=status',
    '-p',
    JSON.stringify(status),
  );
}

const read = (...args: readonly string[]): string => plane.kubectl('get', ...args).output.trim();
const versionCondition = (type: string): string =>
  read('clusterversion', 'version', '-o', `jsonpath={.status.conditions[?(@.type=="${type}")].status}`);

beforeAll(async () => {
  plane = await startControlPlane(['etcd', 'kube-apiserver', 'kube-controller-manager']);
  seed();
  const root = join(plane.folder, 'release');
  writePayload(root);
  const host = realHost();
  const client = await connectKubernetes(host, { path: plane.kubeconfig });
  const log = (line: string): void => void lines.push(line);
  const options = { client, payloadRoot: root, releaseImage: image, node: 'master-0', signal: stop.signal, log };
  running = runVersionOperator(host, { ...options, operators: [sampleOperator] }).catch((error: unknown) => {
    if (!stop.signal.aborted) throw error;
  });
  await plane.until('the release is applied', () => versionCondition('Available') === 'True');
}, 120_000);

afterAll(async () => {
  stop.abort(new Error('the test is over'));
  await running;
  await plane?.stop();
}, 60_000);

describe('a release before a real API', () => {
  test('is brought with the values of the cluster', () => {
    expect(read('service', '-n', 'sample', 'app', '-o', 'jsonpath={.spec.clusterIP}')).toBe('172.30.0.10');
    expect(read('deployment', '-n', 'sample', 'app', '-o', 'yaml')).toContain('value: apps.demo.firstlight.test');
  });

  test('reads as people know it', () => {
    expect(read('clusterversion')).toMatch(
      /^NAME +VERSION +AVAILABLE +PROGRESSING +SINCE +STATUS\nversion +0\.2\.0 +True +False +\S+ +Cluster version is 0\.2\.0$/,
    );
    expect(read('co')).toMatch(
      /^NAME +VERSION +AVAILABLE +PROGRESSING +DEGRADED +SINCE +MESSAGE\nsample +0\.2\.0 +True +False +False +\S+ +the settings are there$/,
    );
  });

  test('is put right within 30 s when somebody changes or deletes it, and what strangers add stays', async () => {
    plane.kubectl('-n', 'sample', 'set', 'env', 'deployment/app', 'MINE=yes', 'DOMAIN=wrong');
    plane.kubectl(
      '-n',
      'sample',
      'patch',
      'configmap',
      'settings',
      '--type=merge',
      '-p',
      '{"data":{"key":"wrong","mine":"yes"}}',
    );
    plane.kubectl('-n', 'sample', 'delete', 'service', 'app');
    const startMs = performance.now();
    const data = (): string => read('configmap', '-n', 'sample', 'settings', '-o', 'jsonpath={.data}');
    const variables = (): string =>
      read('deployment', '-n', 'sample', 'app', '-o', 'jsonpath={.spec.template.spec.containers[0].env}');
    await plane.until('the data', () => data() === '{"key":"value","mine":"yes"}');
    await plane.until('the variables', () => variables().includes('apps.demo.firstlight.test'));
    await plane.until('the Service', () => read('service', '-n', 'sample', 'app', '-o', 'name') === 'service/app');
    expect(performance.now() - startMs).toBeLessThan(30_000);
    expect(variables()).toContain('"name":"MINE","value":"yes"');
  }, 60_000);

  test('is not written by a pass that finds everything as it should be', async () => {
    const kinds =
      'namespaces,configmaps,deployments,services,crds,clusterversions,clusteroperators,clusterrolebindings';
    const versions = (): string =>
      read(
        kinds,
        '-A',
        '-o',
        'jsonpath={range .items[*]}{.kind}/{.metadata.name}={.metadata.resourceVersion}{"\\n"}{end}',
      );
    // The last test ends in the middle of a pass; the next begins 20 s after it.
    await new Promise((resolve) => setTimeout(resolve, 3_000));
    const before = versions();
    await new Promise((resolve) => setTimeout(resolve, 22_000));
    expect(versions()).toBe(before);
  }, 90_000);

  test('is owned by the ClusterVersion, which nobody can delete', () => {
    expect(read('namespace', 'sample', '-o', 'jsonpath={.metadata.ownerReferences[0].kind}')).toBe('ClusterVersion');
    for (const what of [
      ['clusterversion', 'version'],
      ['crd', 'clusterversions.config.openshift.io'],
    ]) {
      const { code, output } = plane.kubectl('delete', ...what, '--wait=false');
      expect(code).not.toBe(0);
      expect(output).toContain('all that the release brought would be deleted with the ClusterVersion');
    }
  });

  test('has a capability or an override refused by the API when it is written wrong', () => {
    const patch = (spec: object): string =>
      plane.kubectl('patch', 'clusterversion', 'version', '--type=merge', '-p', JSON.stringify({ spec })).output;
    expect(patch({ capabilities: { disabledCapabilities: ['Marketplace'] } })).toContain('Unsupported value');
    expect(patch({ overrides: [{ kind: 'Service' }] })).toContain('Required value');
  });
});
