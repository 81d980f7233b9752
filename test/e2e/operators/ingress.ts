// An application of a user behind an Ingress, asked by curl from the host: by HTTP and HTTPS, and while the pods of the
// ingress controller are replaced.
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { isLong } from '../fire/long.ts';
import type { WebReport, WebSettings } from '../machine-config/web-load.ts';
import { eventually } from '../machine-lab.ts';
import { type ReportingChild, reportingChild } from '../reporting-child.ts';
import { type TrustCluster, trustKubectl } from '../trust/trust-cluster.ts';
import {
  applyFile,
  appsDomain,
  hostPorts,
  nodeInImage,
  scriptContainer,
  type ToolOutcome,
  tool,
  valueAt,
} from './operator-lab.ts';

const name = 'hello';
const labels = { app: name };
const namespace = 'openshift-ingress';
const server = `require('node:http').createServer((q, a) => a.end('hello from ' + q.headers.host)).listen(8080)`;

async function helloObjects(host: string): Promise<readonly object[]> {
  const container = await scriptContainer(server);
  const readinessProbe = { httpGet: { path: '/', port: 8080 }, periodSeconds: 1 };
  const metadata = { name };
  const backend = { service: { name, port: { number: 80 } } };
  return [
    {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata,
      spec: {
        replicas: 1,
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [{ ...container, readinessProbe }] } },
      },
    },
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata,
      spec: { selector: labels, ports: [{ port: 80, targetPort: 8080 }] },
    },
    {
      apiVersion: 'networking.k8s.io/v1',
      kind: 'Ingress',
      metadata,
      spec: { rules: [{ host, http: { paths: [{ path: '/', pathType: 'Prefix', backend }] } }] },
    },
  ];
}

/** curl of the host, through its loopback. */
async function curl(url: string, ...more: readonly string[]): Promise<ToolOutcome> {
  const { hostname, port } = new URL(url);
  return tool('curl', '-sS', '--fail', '--max-time', '5', '--resolve', `${hostname}:${port}:127.0.0.1`, ...more, url);
}

function startClient(settings: WebSettings): ReportingChild<WebReport> {
  const args = [resolve('test/e2e/machine-config/web-client.ts'), JSON.stringify(settings)];
  return reportingChild(spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] }), 'the client');
}

export function ingressTopic(cluster: TrustCluster): void {
  let host = '';
  let client: ReportingChild<WebReport> | undefined;
  const url = (scheme: 'http' | 'https'): string => `${scheme}://${host}:${hostPorts(cluster)[scheme]}/`;

  beforeAll(async () => {
    host = `${name}.${await appsDomain(cluster)}`;
    await applyFile(cluster, name, await helloObjects(host));
    await trustKubectl(cluster, 'rollout', 'status', `deployment/${name}`, '--timeout=90s');
  });

  afterAll(async () => {
    client?.kill();
    const all = ['deployment', 'service', 'ingress'].map((kind) => `${kind}/${name}`);
    await trustKubectl(cluster, 'delete', ...all, '--wait=false');
  });

  test('it answers by HTTP at its name, on the loopback of the host', async () => {
    const said = await eventually('an answer through the Ingress', 30, async () => {
      const { code, stdout } = await curl(url('http'));
      return code === 0 ? stdout : undefined;
    });
    expect(said).toBe(`hello from ${host}:${hostPorts(cluster).http}`);
  });

  test('it answers by HTTPS to whoever trusts the signer of the ingress, and to no other', async () => {
    const signer = join(cluster.folder, 'ingress-ca.crt');
    const place = ['configmap', 'default-ingress-cert', '-n', namespace] as const;
    writeFileSync(signer, await valueAt(cluster, place, '.data.ca-bundle\\.crt'));
    const trusted = await curl(url('https'), '--cacert', signer);
    expect([trusted.code, trusted.stdout]).toEqual([0, `hello from ${host}:${hostPorts(cluster).https}`]);
    // 60: the certificate of the peer is not trusted.
    expect((await curl(url('https'))).code).toBe(60);
  });

  test('a name that no Ingress has is not found', async () => {
    const { code, stderr } = await curl(url('http').replace(name, 'nobody'));
    expect([code, stderr]).toEqual([22, expect.stringContaining('404')]);
  });

  test('the name leads there from inside the cluster too, and the Ingress says where it is served', async () => {
    const ask = `fetch('http://${host}/').then((a) => a.text()).then((t) => console.log(t))`;
    const said = await trustKubectl(cluster, 'exec', `deployment/${name}`, '--', nodeInImage, '-e', ask);
    expect(said.trim()).toBe(`hello from ${host}`);
    const where = await valueAt(cluster, ['ingress', name], '.status.loadBalancer.ingress[0].hostname');
    expect(where).toBe(`ingress.${await appsDomain(cluster)}`);
  });

  test('a client at 20 requests a second has every answer while pods of the controller are replaced', async () => {
    const address = `http://127.0.0.1:${hostPorts(cluster).http}/`;
    client = startClient({ url: address, host, perSecond: 20 });
    const pods = await trustKubectl(cluster, 'get', 'pods', '-n', namespace, '-o', 'name');
    const names = pods.trim().split('\n');
    expect(names).toHaveLength(2);
    for (const pod of isLong ? names : names.slice(0, 1)) {
      await trustKubectl(cluster, 'delete', '-n', namespace, pod, '--wait=true');
      await trustKubectl(cluster, 'rollout', 'status', '-n', namespace, 'deployment/router-default', '--timeout=90s');
    }
    const report = await client.end();
    expect(report.failed).toEqual([]);
    expect(report.answered).toBe(report.asked);
    expect(report.answered).toBeGreaterThan(100);
  });
}
