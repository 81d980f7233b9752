// Work of a user: replicas on several nodes behind a Service, reached by its name.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { cli, eventually, startCli } from '../machine-lab.ts';
import { type TrustCluster, trustKubectl, trustKubectlJson } from '../trust/trust-cluster.ts';

const server = `require('node:http').createServer((q, a) => a.end(process.env.HOSTNAME)).listen(8080)`;

function webObjects(image: string): readonly object[] {
  const labels = { app: 'web' };
  const spread = {
    labelSelector: { matchLabels: labels },
    topologyKey: 'kubernetes.io/hostname',
    maxSkew: 1,
    whenUnsatisfiable: 'DoNotSchedule',
  };
  const container = {
    name: 'web',
    image,
    imagePullPolicy: 'Never',
    command: ['/usr/local/lib/firstlight/bin/node', '-e', server],
    readinessProbe: { httpGet: { path: '/', port: 8080 }, periodSeconds: 1 },
  };
  const tolerations = [{ operator: 'Exists', effect: 'NoSchedule' }];
  const pod = {
    metadata: { labels },
    spec: { containers: [container], tolerations, topologySpreadConstraints: [spread] },
  };
  return [
    {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'web' },
      spec: { replicas: 2, selector: { matchLabels: labels }, template: pod },
    },
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'web' },
      spec: { selector: labels, ports: [{ port: 80, targetPort: 8080 }] },
    },
  ];
}

export function workloadTopic(cluster: TrustCluster): void {
  afterAll(async () => {
    await trustKubectl(cluster, 'delete', 'deployment/web', 'service/web', '--wait=false');
  });

  test('two replicas on two nodes answer by the name of their Service, from another pod', async () => {
    const release = JSON.parse(await cli('release', 'info', '-o', 'json')) as { images: readonly { tag: string }[] };
    const image = release.images.find(({ tag }) => tag.includes('/firstlight:'))?.tag ?? '';
    const file = join(cluster.folder, 'web.json');
    writeFileSync(file, JSON.stringify({ apiVersion: 'v1', kind: 'List', items: webObjects(image) }));
    await trustKubectl(cluster, 'apply', '-f', file);
    await trustKubectl(cluster, 'rollout', 'status', 'deployment/web', '--timeout=180s');
    const { items } = await trustKubectlJson<{
      items: readonly { metadata: { name: string }; spec: { nodeName: string } }[];
    }>(cluster, 'get', 'pods', '-l', 'app=web');
    expect(new Set(items.map(({ spec }) => spec.nodeName)).size).toBe(2);
    const asking = `(async()=>{const s=new Set();for(let i=0;i<40;i++)s.add(await (await fetch('http://web.default.svc.cluster.local',{headers:{connection:'close'}})).text());console.log([...s].sort().join())})()`;
    const node = '/usr/local/lib/firstlight/bin/node';
    const both = items.map(({ metadata }) => metadata.name).sort();
    // That its pods are Ready reaches the Service a moment later: first the slice of its endpoints, then every kube-proxy.
    await eventually('answers of both replicas, and none that is refused', 30, async () => {
      const exec = ['kubectl', '--dir', cluster.dir, 'exec', both[0] ?? '', '--', node, '-e', asking];
      const { code, stdout } = await startCli(exec).outcome;
      return code === 0 && stdout.trim() === both.join() ? true : undefined;
    });
  });
}
