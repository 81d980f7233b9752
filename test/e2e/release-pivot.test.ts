// Two bootstrap machines whose config names another release than they boot: one waits for a layout that is not on its
// disk, the other pulls it from a registry behind a mirror of the install-config, with its pull secret.
import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bootkubeEnvironmentFile } from '../../src/contract/machine-paths.ts';
import type { IgnitionConfig } from '../../src/ignition/config.ts';
import { type AnotherRelease, makeAnotherRelease } from './another-release.ts';
import { dataUrl } from './ignition-file.ts';
import { cli, eventually, inside, makeCa, temporaryFolder } from './machine-lab.ts';
import type { RegistryServerSettings } from './registry-server.ts';

const cluster = `e2e-pivot-${process.pid}`;
const domain = 'demo.firstlight.test';
const switchAddress = '10.99.0.1';
/** Not 5000, which leads to the registry of the cluster. */
const registryPort = 5443;
const folder = temporaryFolder();
const login = 'me:se cret';
const layoutOnMachine = '/srv/release';
let release: AnotherRelease;
const ended: (() => void)[] = [];

/** bootstrap.ign of an install-config, with the release named. */
async function ignitionOf(name: string, installConfig: string, environment: string): Promise<string> {
  const dir = join(folder, name);
  mkdirSync(dir);
  writeFileSync(join(dir, 'install-config.yaml'), installConfig);
  await cli('create', 'ignition-configs', '--dir', dir);
  const config = JSON.parse(readFileSync(join(dir, 'bootstrap.ign'), 'utf8')) as IgnitionConfig;
  const named = { path: bootkubeEnvironmentFile, mode: 0o644, contents: { source: dataUrl(environment) } };
  const file = join(dir, 'machine.ign');
  const storage = { ...config.storage, files: [...(config.storage?.files ?? []), named] };
  writeFileSync(file, JSON.stringify({ ...config, storage }));
  return file;
}

const create = (machine: string, ignition: string): Promise<string> =>
  cli(
    'machine',
    'create',
    '--cluster',
    cluster,
    '--domain',
    domain,
    '--role',
    'bootstrap',
    '--ignition',
    ignition,
    machine,
  );
const journal = (machine: string, unit: string): Promise<string> =>
  inside(cluster, machine, `journalctl --no-pager --output=cat --unit=${unit}`);

/** What the machine says when it runs the other release. */
async function expectChanged(machine: string): Promise<void> {
  await eventually(`that ${machine} runs the other release`, 120, async () =>
    (await journal(machine, 'release-image-pivot')).includes(`goes on with release ${release.version}`)
      ? true
      : undefined,
  );
  const program = '/usr/local/lib/firstlight/dist/firstlight.mjs';
  expect(await inside(cluster, machine, `sha256sum ${program}`)).toContain(release.programDigest);
  const images = await inside(cluster, machine, 'ctr --namespace k8s.io images list --quiet 2>/dev/null');
  for (const { reference } of release.manifest.images.filter(({ name }) => name === 'firstlight' || name === 'etcd')) {
    expect(images).toContain(reference);
  }
  expect(await inside(cluster, machine, 'cat /usr/local/share/firstlight/release.json')).toContain(release.version);
}

async function startRegistry(certificate: {
  readonly certificate: string;
  readonly key: string;
}): Promise<() => string> {
  const settings: RegistryServerSettings = {
    address: switchAddress,
    port: registryPort,
    ...certificate,
    layout: release.layout,
    path: 'mirrored',
    login,
  };
  const script = resolve('test/e2e/registry-server.ts');
  const args = [`--net=/run/netns/firstlight.${cluster}`, process.execPath, script, JSON.stringify(settings)];
  const child = spawn('nsenter', args, { stdio: ['ignore', 'pipe', 'inherit'] });
  ended.push(() => void child.kill());
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString('utf8')));
  await eventually('the start of the registry', 20, async () => (output.includes('ready') ? true : undefined));
  return () => output;
}

beforeAll(async () => {
  release = await makeAnotherRelease(join(folder, 'layout'));
});
afterAll(async () => {
  for (const end of ended) end();
  await cli('machine', 'destroy', '--all', '--cluster', cluster);
  rmSync(folder, { recursive: true, force: true });
});

describe('from a layout on the machine', () => {
  test('while it is not there, the pivot says what is missing and bootkube renders nothing', async () => {
    const environment = `RELEASE_IMAGE=${release.reference}\nRELEASE_LAYOUT=${layoutOnMachine}\n`;
    await create('by-layout', await ignitionOf('by-layout', '', environment));
    await eventually('a reason', 60, async () => {
      const said = await journal('by-layout', 'release-image-pivot');
      return said.includes(`${layoutOnMachine} cannot be had: it is not there`) ? true : undefined;
    });
    await eventually('that bootkube refuses', 60, async () =>
      (await journal('by-layout', 'bootkube')).includes('the machine was made from') ? true : undefined,
    );
    expect(await inside(cluster, 'by-layout', 'ls /etc/kubernetes/manifests')).toBe('');
  });
});

describe('from a registry', () => {
  test('through the mirror, with the authority and the pull secret of the install-config', async () => {
    const ca = makeCa(folder);
    const registry = `switch.${domain}:${registryPort}`;
    const auth = Buffer.from(login).toString('base64');
    const installConfig = JSON.stringify({
      imageDigestSources: [{ source: 'release.firstlight.internal', mirrors: [`${registry}/mirrored`] }],
      additionalTrustBundle: ca.certificate,
      additionalTrustBundlePolicy: 'Always',
      pullSecret: JSON.stringify({ auths: { [registry]: { auth } } }),
    });
    const ignition = await ignitionOf('by-registry', installConfig, `RELEASE_IMAGE=${release.reference}\n`);
    await create('by-registry', ignition);
    const asked = await startRegistry(ca.issue(`switch.${domain}`));
    await expectChanged('by-registry');
    expect(asked()).toContain(`${login} GET /v2/mirrored/release/manifests/${release.reference.split('@')[1]}`);
    expect(await journal('by-registry', 'release-image-pivot')).not.toContain('not what the named release says');
  });

  test('and bootkube goes on with it: stage 2 accepts the release, and what follows is rendered', async () => {
    const [, digest = ''] = release.reference.split('@');
    const rendered = '/opt/firstlight/render';
    await eventually('the last stage that renders', 120, async () =>
      (await inside(cluster, 'by-registry', `ls ${rendered} 2>/dev/null || true`)).includes('12-machine-config')
        ? true
        : undefined,
    );
    const images = await inside(cluster, 'by-registry', `cat ${rendered}/02-release-info/images.env`);
    expect(images).toContain(`RELEASE_IMAGE_DIGEST=${digest}\n`);
    const own = release.manifest.images.find(({ name }) => name === 'firstlight');
    expect(images).toContain(`MACHINE_CONFIG_OPERATOR_IMAGE=${own?.reference ?? ''}\n`);
  });
});
