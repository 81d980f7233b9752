// The registry of a cluster: skopeo pushes an image from the host with the password of the Secret, a machine pulls it
// without one and runs it; whoever has another password, or asks the server that only gives, puts nothing there.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { cli, eventually, inside } from '../machine-lab.ts';
import { type TrustCluster, trustKubectl } from '../trust/trust-cluster.ts';
import { applyFile, appsDomain, hostPorts, type ToolOutcome, tool, valueAt } from './operator-lab.ts';

const namespace = 'openshift-image-registry';
const image = 'proof/pause:1';

const podOf = (name: string): object => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'pulled' },
  spec: { nodeName: 'worker-0', containers: [{ name: 'one', image: name, imagePullPolicy: 'Always' }] },
});

export function registryTopic(cluster: TrustCluster): void {
  let archive = '';
  let password = '';
  let inCluster = '';
  const certificates = join(cluster.folder, 'registry-certificates');
  const atHost = (): string => `127.0.0.1:${hostPorts(cluster).push}/${image}`;

  const push = (secret: string): Promise<ToolOutcome> => {
    const how = ['--insecure-policy', 'copy', '--dest-creds', `firstlight:${secret}`, '--dest-cert-dir', certificates];
    return tool('skopeo', ...how, `oci-archive:${archive}`, `docker://${atHost()}`);
  };

  beforeAll(async () => {
    const extract = ['release', 'extract', '--component', 'pause-image', '--to', cluster.folder, '-o', 'json'];
    const { files } = JSON.parse(await cli(...extract)) as { files: readonly string[] };
    archive = files[0] ?? '';
    const encoded = await valueAt(cluster, ['secret', 'registry-password', '-n', namespace], '.data.password');
    password = Buffer.from(encoded, 'base64').toString('utf8');
    mkdirSync(certificates, { recursive: true });
    const trust = await valueAt(cluster, ['configmap', 'registry-trust', '-n', namespace], '.data.ca-bundle\\.crt');
    writeFileSync(join(certificates, 'ca.crt'), trust);
    inCluster = `registry.${await appsDomain(cluster)}:5000`;
  });

  afterAll(async () => {
    await trustKubectl(cluster, 'delete', 'pod', 'pulled', '--ignore-not-found', '--grace-period=1');
    const how = ['--creds', `firstlight:${password}`, '--cert-dir', certificates];
    await tool('skopeo', '--insecure-policy', 'delete', ...how, `docker://${atHost()}`);
    await inside(cluster.infraId(), 'worker-0', `crictl rmi ${inCluster}/${image} 2>/dev/null || true`);
  });

  test('another password is refused', async () => {
    const { code, stderr } = await push(`${password.slice(1)}x`);
    expect(code).not.toBe(0);
    expect(stderr).toMatch(/unauthorized|authentication required/i);
  });

  test('an image is pushed from the host, and its certificate is verified', async () => {
    expect(await push(password)).toMatchObject({ code: 0 });
    const how = ['--creds', `firstlight:${password}`, '--cert-dir', certificates];
    const { stdout } = await tool('skopeo', '--insecure-policy', 'inspect', ...how, `docker://${atHost()}`);
    expect((JSON.parse(stdout) as { Digest: string }).Digest).toMatch(/^sha256:/);
  });

  test('a worker pulls it by its name in the cluster and runs it', async () => {
    await applyFile(cluster, 'pulled', [podOf(`${inCluster}/${image}`)]);
    await eventually('that the pulled image runs', 60, async () =>
      (await valueAt(cluster, ['pod', 'pulled'], '.status.phase')) === 'Running' ? true : undefined,
    );
    const ran = await valueAt(cluster, ['pod', 'pulled'], '.status.containerStatuses[0].imageID');
    expect(ran).toContain(`${inCluster}/proof/pause@sha256:`);
  });

  test('the server that machines pull from takes nothing', async () => {
    const [name = '', port = ''] = inCluster.split(':');
    const [address = ''] = (await inside(cluster.infraId(), 'worker-0', `getent hosts ${name}`)).split(' ');
    const network = `--net=/run/netns/firstlight.${cluster.infraId()}.worker-0`;
    const how = ['--cacert', join(certificates, 'ca.crt'), '--resolve', `${name}:${port}:${address}`];
    const upload = ['-X', 'POST', `https://${inCluster}/v2/proof/more/blobs/uploads/`];
    const ask = ['-sS', '-o', '/dev/null', '-w', '%{http_code}'];
    expect(await tool('nsenter', network, 'curl', ...ask, ...how, ...upload)).toMatchObject({ code: 0, stdout: '405' });
  });
}
