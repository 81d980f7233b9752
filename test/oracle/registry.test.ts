// The real registry with the settings that the release brings: who may pull, who may push, and that what was pushed
// from archives comes out again byte by byte.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { realHost } from '../../src/host/real/real-host.ts';
import { registryOperator } from '../../src/operators/registry.ts';
import { issueLeaf, issueSigner } from '../../src/pki/issue.ts';
import { readArchive } from '../../src/registry/archive.ts';
import { registryErrors } from '../../src/registry/errors.ts';
import { pushImage, type RegistryAccess } from '../../src/registry/push-image.ts';
import { writeArchive } from '../../src/release/images/oci-archive.ts';
import { type OciImage, writeImage, writeIndex } from '../../src/release/images/oci-image.ts';
import { eventually } from '../e2e/machine-lab.ts';
import { freePorts } from './free-ports.ts';
import { oracleProgram } from './programs.ts';

const host = realHost();
const folder = mkdtempSync(join(tmpdir(), 'firstlight-registry-'));
const username = 'firstlight';
const password = 'not a secret';
const servers: ChildProcess[] = [];
let access: RegistryAccess;
let pullUrl: string;
let image: OciImage;

/** The two files of settings, with paths of this test and free ports of the loopback. */
function writeSettings(ports: Readonly<Record<string, number>>): void {
  const objects = registryOperator.manifests((name) => name).flatMap((file) => file.objects);
  const settings = objects.find(({ kind, metadata }) => kind === 'ConfigMap' && metadata.name === 'registry');
  for (const [name, text] of Object.entries(settings?.['data'] as Readonly<Record<string, string>>)) {
    const here = text
      .replaceAll('/var/lib/registry', join(folder, 'images'))
      .replaceAll('/etc/registry', folder)
      .replace(/addr: :\d+/, `addr: 127.0.0.1:${ports[name.replace('.yaml', '')]}`);
    writeFileSync(join(folder, 'settings', name), here);
  }
}

async function start(server: string, port: number): Promise<string> {
  const env = { ...process.env, OTEL_TRACES_EXPORTER: 'none' };
  const args = ['serve', join(folder, 'settings', `${server}.yaml`)];
  servers.push(spawn(oracleProgram('registry'), args, { env, stdio: 'ignore' }));
  await eventually(`the registry for ${server}`, 20, () =>
    host.network.probe('127.0.0.1', port, 500).then(
      () => true,
      () => undefined,
    ),
  );
  return `https://127.0.0.1:${port}`;
}

beforeAll(async () => {
  for (const name of ['images', 'settings', 'serving', 'password', 'users']) mkdirSync(join(folder, name));
  const options = { random: host.random, now: host.clock.now() };
  const subject = { commonName: 'registry', organizations: [] };
  const signer = issueSigner({ subject, validityDays: 1, signsFor: 'server' }, options);
  const contents = { subject, dnsNames: [], ipAddresses: ['127.0.0.1'], purpose: 'server', validityDays: 1 } as const;
  const leaf = issueLeaf(contents, signer, options);
  writeFileSync(join(folder, 'serving/tls.crt'), leaf.certificatePem);
  writeFileSync(join(folder, 'serving/tls.key'), leaf.key.privatePem.reveal());
  writeFileSync(join(folder, 'password/username'), username);
  writeFileSync(join(folder, 'password/password'), password);
  const htpasswd = join(folder, 'users/htpasswd');
  execFileSync(oracleProgram('registry-password'), [`-from=${join(folder, 'password')}`, `-to=${htpasswd}`]);
  const [pull = 0, push = 0] = await freePorts(2);
  writeSettings({ pull, push });
  pullUrl = await start('pull', pull);
  const url = await start('push', push);
  const { signal } = new AbortController();
  access = {
    http: host.network,
    files: host.files,
    url,
    authorityPem: signer.certificatePem,
    username,
    password,
    signal,
  };
  image = await writeImage(host.files, join(folder, 'layout'), {
    name: 'elsewhere.test/team/app',
    tag: 'v7',
    config: { architecture: 'amd64', entrypoint: ['/app'] },
    // More than is sent at a time.
    layers: [{ app: { kind: 'text', text: 'x'.repeat(20_000_000), mode: 0o755 } }],
  });
  await writeIndex(host.files, join(folder, 'layout'), [image]);
  await writeArchive(host.files, join(folder, 'layout'), join(folder, 'app.tar'));
}, 60_000);
afterAll(() => {
  for (const server of servers) server.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});

async function pulled(path: string): Promise<Uint8Array> {
  const accept = 'application/vnd.oci.image.manifest.v1+json';
  const answer = await host.network.request({
    url: `${pullUrl}/v2/${path}`,
    ca: access.authorityPem,
    headers: { accept },
  });
  expect(answer.status, path).toBe(200);
  return answer.body;
}

const sha256 = (bytes: Uint8Array): string => `sha256:${createHash('sha256').update(bytes).digest('hex')}`;

async function archived(name: string) {
  const scratch = mkdtempSync(join(folder, 'scratch-'));
  const [found] = await readArchive(host.files, join(folder, name), scratch);
  if (found === undefined) throw new Error(`${name} has no image`);
  return found;
}

test('an image of an OCI archive comes out under its own digest, for everybody, and is sent once', async () => {
  const name = { repository: 'team/app', tag: 'v7' };
  const first = await pushImage(access, await archived('app.tar'), name);
  expect(first).toMatchObject({ digest: `sha256:${image.digest}`, keptBytes: 0 });
  const manifest = await pulled('team/app/manifests/v7');
  expect(sha256(manifest)).toBe(`sha256:${image.digest}`);
  for (const { digest } of image.layers)
    expect(sha256(await pulled(`team/app/blobs/sha256:${digest}`))).toBe(`sha256:${digest}`);
  const again = await pushImage(access, await archived('app.tar'), name);
  expect(again).toMatchObject({ sentBytes: 0, keptBytes: first.sentBytes });
});

test('an image as docker save writes it comes out with the same layers', async () => {
  const [layer] = image.layers;
  const saved = join(folder, 'saved');
  mkdirSync(saved);
  const blob = readFileSync(join(folder, 'layout/blobs/sha256', layer?.digest ?? ''));
  writeFileSync(join(saved, 'layer.tar'), blob);
  writeFileSync(
    join(saved, 'config.json'),
    JSON.stringify({ os: 'linux', architecture: 'amd64', rootfs: { type: 'layers' } }),
  );
  writeFileSync(
    join(saved, 'manifest.json'),
    JSON.stringify([{ Config: 'config.json', RepoTags: ['other/app:1'], Layers: ['layer.tar'] }]),
  );
  execFileSync('tar', ['-cf', join(folder, 'saved.tar'), '-C', saved, 'manifest.json', 'config.json', 'layer.tar']);
  const found = await archived('saved.tar');
  await pushImage(access, found, { repository: 'other/app', tag: '1' });
  expect(sha256(await pulled('other/app/manifests/1'))).toBe(found.root.digest);
  expect(sha256(await pulled(`other/app/blobs/sha256:${layer?.digest}`))).toBe(sha256(blob));
});

test('without the password nobody pushes, and at the port for everybody nobody does', async () => {
  const found = await archived('app.tar');
  const name = { repository: 'team/stolen', tag: '1' };
  const refused = (status: number) =>
    expect.objectContaining({ code: registryErrors.REFUSED.code, details: expect.objectContaining({ status }) });
  await expect(pushImage({ ...access, password: 'wrong' }, found, name)).rejects.toEqual(refused(401));
  await expect(pushImage({ ...access, url: pullUrl }, found, name)).rejects.toEqual(refused(405));
});
