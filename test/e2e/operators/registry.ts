// The registry of a cluster: skopeo pushes an image from the host with the password of the Secret, a machine pulls it
// without one and runs it; whoever has another password, or asks the server that only gives, puts nothing there.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { cli, eventually, inside } from '../machine-lab.ts';
import { type TrustCluster, trustKubectl } from '../trust/trust-cluster.ts';
import { applyFile, appsDomain, hostPorts, type ToolOutcome, tool, valueAt } from './operator-lab.ts';

const namespace = 'openshift-image-registry';
const pushed = 'proof/pause:1';
const loaded = 'proof/loaded:2';

const podOf = (image: string): object => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'pulled' },
  spec: { nodeName: 'worker-0', containers: [{ name: 'one', image, imagePullPolicy: 'Always' }] },
});

/** What a person has who uses the registry from the host. */
interface Person {
  readonly password: string;
  /** A folder with the certificate of the registry's signer. */
  readonly certificates: string;
  /** An image of the release. */
  readonly archive: string;
  /** The archive has the image by tag and by digest. */
  readonly tag: string;
  /** `registry.apps.<cluster>.<domain>:5000`. */
  readonly inCluster: string;
}

async function personOf(cluster: TrustCluster): Promise<Person> {
  const extract = ['release', 'extract', '--component', 'pause-image', '--to', cluster.folder, '-o', 'json'];
  const { files } = JSON.parse(await cli(...extract)) as { files: readonly string[] };
  const release = JSON.parse(await cli('release', 'info', '-o', 'json')) as { images: readonly { tag: string }[] };
  const name = release.images.find(({ tag }) => tag.includes('/pause:'))?.tag ?? '';
  const encoded = await valueAt(cluster, ['secret', 'registry-password', '-n', namespace], '.data.password');
  const trust = await valueAt(cluster, ['configmap', 'registry-trust', '-n', namespace], '.data.ca-bundle\\.crt');
  const certificates = join(cluster.folder, 'registry-certificates');
  mkdirSync(certificates, { recursive: true });
  writeFileSync(join(certificates, 'ca.crt'), trust);
  return {
    password: Buffer.from(encoded, 'base64').toString('utf8'),
    certificates,
    archive: files[0] ?? '',
    tag: name.slice(name.lastIndexOf(':') + 1),
    inCluster: `registry.${await appsDomain(cluster)}:5000`,
  };
}

/** Only these names: the image itself is that of every sandbox. */
async function forgetImages(cluster: TrustCluster, registry: string): Promise<void> {
  const images = 'ctr --namespace k8s.io images';
  const names = `${images} ls -q | grep '^${registry}/'`;
  await inside(cluster.infraId(), 'worker-0', `${names} | xargs -r ${images} rm >/dev/null; true`);
}

export function registryTopic(cluster: TrustCluster): void {
  let person: Person;
  const atHost = (image: string): string => `docker://127.0.0.1:${hostPorts(cluster).push}/${image}`;
  const push = ({ archive, tag, certificates }: Person, password: string): Promise<ToolOutcome> => {
    const how = ['--dest-creds', `firstlight:${password}`, '--dest-cert-dir', certificates];
    return tool('skopeo', '--insecure-policy', 'copy', ...how, `oci-archive:${archive}:${tag}`, atHost(pushed));
  };
  const skopeo = (verb: 'inspect' | 'delete', image: string): Promise<ToolOutcome> => {
    const how = ['--creds', `firstlight:${person.password}`, '--cert-dir', person.certificates];
    return tool('skopeo', '--insecure-policy', verb, ...how, atHost(image));
  };
  const digestOf = async (image: string): Promise<string> =>
    (JSON.parse((await skopeo('inspect', image)).stdout) as { Digest: string }).Digest;

  beforeAll(async () => {
    person = await personOf(cluster);
  });

  afterAll(async () => {
    await trustKubectl(cluster, 'delete', 'pod', 'pulled', '--ignore-not-found', '--grace-period=1');
    for (const image of [pushed, loaded]) await skopeo('delete', image);
    await forgetImages(cluster, person.inCluster);
  });

  test('another password is refused', async () => {
    const { code, stderr } = await push(person, `${person.password.slice(1)}x`);
    expect(code).not.toBe(0);
    expect(stderr).toMatch(/unauthorized|authentication required/i);
  });

  test('an image is pushed from the host, and the registry is known by its certificate', async () => {
    expect(await push(person, person.password)).toMatchObject({ code: 0 });
    expect(await digestOf(pushed)).toMatch(/^sha256:/);
  });

  test('firstlight image load brings an archive there, and nobody types a password', async () => {
    const told = await cli('image', 'load', person.archive, '--as', loaded, '--dir', cluster.dir, '-o', 'json');
    const { images } = JSON.parse(told) as { images: readonly { image: string; digest: string }[] };
    expect(images).toMatchObject([{ image: `${person.inCluster}/${loaded}`, digest: await digestOf(loaded) }]);
  });

  test('a worker pulls it by its name in the cluster and runs it', async () => {
    const image = `${person.inCluster}/${pushed}`;
    await applyFile(cluster, 'pulled', [podOf(image)]);
    await eventually('that the pulled image runs', 60, async () =>
      (await valueAt(cluster, ['pod', 'pulled'], '.status.phase')) === 'Running' ? true : undefined,
    );
    const said = await eventually('the event of the pull', 20, async () =>
      (await valueAt(cluster, ['events'], '.items[*].message'))
        .match(/Successfully pulled image "[^"]+"/g)
        ?.find((text) => text.includes(image)),
    );
    expect(said).toBe(`Successfully pulled image "${image}"`);
  });

  test('the server that machines pull from takes nothing', async () => {
    const [name = '', port = ''] = person.inCluster.split(':');
    const [address = ''] = (await inside(cluster.infraId(), 'worker-0', `getent hosts ${name}`)).split(' ');
    const network = `--net=/run/netns/firstlight.${cluster.infraId()}.worker-0`;
    const how = ['--cacert', join(person.certificates, 'ca.crt'), '--resolve', `${name}:${port}:${address}`];
    const upload = ['-X', 'POST', `https://${person.inCluster}/v2/proof/more/blobs/uploads/`];
    const ask = ['-sS', '-o', '/dev/null', '-w', '%{http_code}'];
    expect(await tool('nsenter', network, 'curl', ...ask, ...how, ...upload)).toMatchObject({ code: 0, stdout: '405' });
  });
}
