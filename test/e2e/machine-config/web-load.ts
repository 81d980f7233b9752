// Something that people use while machines change below it: a Deployment of two with a budget of one, and a client that
// asks its Service from the network of a master.
import { spawn } from 'node:child_process';
import { resolve } from 'node:path';
import type { KubernetesObject } from '../../../src/kubernetes/object.ts';
import { machineNamespace, namespacePath } from '../../../src/platform/local/cluster-folder.ts';
import { cli } from '../machine-lab.ts';
import { type ReportingChild, reportingChild } from '../reporting-child.ts';
import { applyObjects, type ConfigCluster, eventuallySeen, withApi } from './config-lab.ts';

export interface WebSettings {
  readonly url: string;
  /** The name that it asks for, where the address has another one. */
  readonly host?: string;
  readonly perSecond: number;
}

export interface WebReport {
  asked: number;
  answered: number;
  /** First attempts that failed. */
  retried: number;
  /** Whose second attempt failed too, with both reasons. */
  failed: string[];
  /** The names of the pods that answered. */
  answeredBy: string[];
}

const namespace = 'proof-web';
const labels = { app: 'web' };
const node = '/usr/local/lib/firstlight/bin/node';
/** Told to end, it goes on answering until nobody is led to it any more, as any good server does. */
const lastWordsMs = 1_500;
const server = [
  `const s=require('node:http').createServer((q,a)=>a.end(process.env.HOSTNAME)).listen(8080)`,
  `process.on('SIGTERM',()=>setTimeout(()=>process.exit(0),${lastWordsMs}))`,
].join(';');

function webObjects(image: string): readonly KubernetesObject[] {
  const spread = {
    labelSelector: { matchLabels: labels },
    topologyKey: 'kubernetes.io/hostname',
    maxSkew: 1,
    whenUnsatisfiable: 'ScheduleAnyway',
  };
  const container = {
    name: 'web',
    image,
    imagePullPolicy: 'Never',
    command: [node, '-e', server],
    readinessProbe: { httpGet: { path: '/', port: 8080 }, periodSeconds: 1 },
  };
  const pod = {
    metadata: { labels },
    spec: { containers: [container], topologySpreadConstraints: [spread], terminationGracePeriodSeconds: 10 },
  };
  const metadata = { name: 'web', namespace };
  const selector = { matchLabels: labels };
  return [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } },
    { apiVersion: 'apps/v1', kind: 'Deployment', metadata, spec: { replicas: 2, selector, template: pod } },
    { apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', metadata, spec: { maxUnavailable: 1, selector } },
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata,
      spec: { selector: labels, ports: [{ port: 80, targetPort: 8080 }] },
    },
  ];
}

/** Ends when both of its pods are Ready; the address of its Service. */
export async function deployWeb(cluster: ConfigCluster): Promise<string> {
  const release = JSON.parse(await cli('release', 'info', '-o', 'json')) as { images: readonly { tag: string }[] };
  const image = release.images.find(({ tag }) => tag.includes('/firstlight:'))?.tag ?? '';
  await applyObjects(cluster, ...webObjects(image));
  await eventuallySeen(cluster, { what: 'a ready Deployment', seconds: 60 }, async (api) => {
    const { status } = await api.get({ apiVersion: 'apps/v1', kind: 'Deployment', namespace, name: 'web' });
    return (status as { readyReplicas?: number }).readyReplicas === 2 ? true : undefined;
  });
  return withApi(cluster, async (api) => {
    const { spec } = await api.get({ apiVersion: 'v1', kind: 'Service', namespace, name: 'web' });
    return `http://${(spec as { clusterIP: string }).clusterIP}/`;
  });
}

/** Ends when it is gone: what is put into a namespace that ends goes with it. */
export async function removeWeb(cluster: ConfigCluster): Promise<void> {
  const reference = { apiVersion: 'v1', kind: 'Namespace', name: namespace } as const;
  await withApi(cluster, (api) => api.delete(reference));
  await eventuallySeen(cluster, { what: 'the end of its namespace', seconds: 60 }, async (api) =>
    (await api.find(reference)) === undefined ? true : undefined,
  );
}

export type WebClient = ReportingChild<WebReport>;

export function startWebClient(cluster: ConfigCluster, machine: string, settings: WebSettings): WebClient {
  const enter = `--net=${namespacePath(machineNamespace(cluster.infraId(), machine))}`;
  const args = [enter, process.execPath, resolve('test/e2e/machine-config/web-client.ts'), JSON.stringify(settings)];
  const child = spawn('nsenter', args, { stdio: ['pipe', 'pipe', 'inherit'] });
  return reportingChild(child, 'the client');
}
