// All that machines and API say about a cluster that stands, in one file, and not one secret in it.
import { generateKeyPairSync } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { note } from '../fire/figures.ts';
import { masters } from '../fire/fire-cluster.ts';
import { bundlesIn, secretsIn, secretsOfAssets, type UnpackedBundle, unpackBundle } from '../log-bundle.ts';
import { inside, startCli } from '../machine-lab.ts';
import { needlesOf } from '../secret-search.ts';
import { type TrustCluster, trustKubectl, trustKubectlJson } from '../trust/trust-cluster.ts';

const password = 'a-password-of-a-user-4711';
const word = 'the-word-in-a-secret-4711';
const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const misplacedKey = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();

/** A user's Secret, a password in a variable, and a key where no key belongs. */
const objects = [
  { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'gathered', namespace: 'default' }, stringData: { word } },
  {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'gathered', namespace: 'default' },
    spec: {
      replicas: 0,
      selector: { matchLabels: { app: 'gathered' } },
      template: {
        metadata: { labels: { app: 'gathered' } },
        spec: { containers: [{ name: 'a', image: 'a.test/a', env: [{ name: 'PASSWORD', value: password }] }] },
      },
    },
  },
  {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'gathered', namespace: 'kube-system' },
    data: { words: 'stays readable', key: misplacedKey },
  },
];

export function gatheringTopic(cluster: TrustCluster): void {
  let bundle: UnpackedBundle = new Map();
  let progress = '';
  const manifest = join(cluster.folder, 'gathered.json');

  beforeAll(async () => {
    writeFileSync(manifest, JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects }));
    await trustKubectl(cluster, 'apply', '-f', manifest);
    const startMs = performance.now();
    const outcome = await startCli(['gather', '--timeout', '60', '-o', 'json', '--dir', cluster.dir]).outcome;
    note('gather of four machines', startMs);
    expect(outcome.code, outcome.stderr).toBe(0);
    progress = outcome.stderr;
    const { bundle: path } = JSON.parse(outcome.stdout) as { readonly bundle: string };
    expect(bundlesIn(cluster.dir)).toContain(path);
    bundle = unpackBundle(path, cluster.folder);
    rmSync(path);
  });

  afterAll(async () => {
    await trustKubectl(cluster, 'delete', '-f', manifest, '--wait=false');
  });

  test('says while it is made what was taken, machine by machine', () => {
    for (const machine of [...masters, 'worker-0', 'diagnosis', 'resources', 'timeline'])
      expect(progress).toMatch(new RegExp(`^ *${machine}: taken$`, 'm'));
  });

  test('has journals, units, containers, etcd and system of every machine', () => {
    for (const master of masters) {
      const text = (path: string): string => bundle.get(`control-plane/${master}/${path}`) ?? '';
      expect(text('journals/kubelet.log')).toMatch(/ kubelet\[\d+\]: /);
      expect(text('journals/journal.log')).toContain('systemd');
      expect(text('units.txt')).toContain('kubelet.service');
      for (const member of masters) expect(text('etcd/members.txt')).toContain(member);
      expect(text('etcd/health.txt')).toContain('true');
      expect(text('static-pods/etcd-pod.yaml')).toContain('kind: Pod');
      expect(text('containers/containers.txt')).toContain('kube-apiserver');
      const logs = [...bundle.keys()].filter((path) => path.startsWith(`control-plane/${master}/containers/etcd-`));
      expect(logs).not.toEqual([]);
      expect(text('network/resolv.conf')).toContain('nameserver');
    }
    expect(bundle.get('workers/worker-0/state/agent.json')).toContain('"duties"');
  });

  test('has objects and events of the API, the timeline, and a page that names every machine', () => {
    const nodes = JSON.parse(bundle.get('resources/nodes.json') ?? '{}') as { readonly items: readonly unknown[] };
    expect(nodes.items.length).toBeGreaterThanOrEqual(masters.length + 1);
    expect(bundle.get('resources/events.txt')).toMatch(/ Normal \S+ Node /);
    expect(bundle.get('timeline/waterfall.txt')).toContain('create cluster');
    const page = bundle.get('index.html') ?? '';
    for (const machine of [...masters, 'worker-0']) expect(page).toContain(`<th scope="row">${machine}</th>`);
    expect(bundle.get('resources/configmaps.json')).toContain('stays readable');
  });

  test('has no key and no token of the asset folder, of a machine or of the API', async () => {
    const { items } = await trustKubectlJson<{ readonly items: readonly { readonly data?: Record<string, string> }[] }>(
      cluster,
      'get',
      'secrets',
      '--all-namespaces',
    );
    // Shorter values, such as a date or a name, are no secrets by themselves.
    const ofApi = items
      .flatMap(({ data = {} }) => Object.values(data))
      .map((value) => Buffer.from(value, 'base64').toString('utf8'))
      .filter((value) => value.length >= 16 && !value.startsWith('-----BEGIN CERTIFICATE'));
    const keys = 'cat /etc/kubernetes/*/*.key /var/lib/kubelet/pki/*.pem 2>/dev/null; true';
    const onMachines = await Promise.all(['master-0', 'worker-0'].map((name) => inside(cluster.infraId(), name, keys)));
    const secrets = [
      ...secretsOfAssets(cluster.dir),
      ...ofApi.flatMap((value) => [value, ...needlesOf(value)]),
      ...onMachines.flatMap(needlesOf),
      ...needlesOf(misplacedKey),
      password,
      word,
    ];
    expect(secrets.length).toBeGreaterThan(30);
    expect(secretsIn(bundle, secrets)).toEqual([]);
  });
}
