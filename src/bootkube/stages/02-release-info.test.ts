import { expect, test } from 'vitest';
import { bootedMachine, bootedRelease } from '../../../test/booted-machine.ts';
import { bootkubeEnvironmentFile } from '../../contract/machine-paths.ts';
import type { FakeHost } from '../../host/fake/fake-host.ts';
import { loadContext } from '../context.ts';
import { runBootkubeStages } from '../run-service.ts';
import { releaseInfoStage } from './02-release-info.ts';

const digest = `sha256:${'b'.repeat(64)}`;
const other = `release.firstlight.internal/release@sha256:${'c'.repeat(64)}`;

async function runStage(host: FakeHost): Promise<string> {
  const context = await loadContext(host, () => {});
  const { signal } = new AbortController();
  await runBootkubeStages({
    context,
    stages: [releaseInfoStage],
    emit: () => {},
    signal,
    purpose: 'test',
    patienceMs: 0,
  });
  return host.files.readText('/opt/firstlight/render/02-release-info/images.env');
}

async function machineWith(environment: string): Promise<FakeHost> {
  const host = await bootedMachine();
  await host.files.makeFolder('/etc/firstlight');
  await host.files.write(bootkubeEnvironmentFile, environment);
  return host;
}

test('stage 2 writes the digest of the release image, and every image by its digest', async () => {
  const lines = (await runStage(await machineWith(`RELEASE_IMAGE=${bootedRelease}\n`))).trim().split('\n');
  expect(lines).toContain(`RELEASE_IMAGE=${bootedRelease}`);
  expect(lines).toContain(`RELEASE_IMAGE_DIGEST=${digest}`);
  expect(lines.length).toBeGreaterThan(10);
  for (const line of lines) expect(line).toMatch(/^[A-Z_]+=(\S+@)?sha256:[0-9a-f]{64}$/);
});

test('without a config that names a release, the machine is asked which one it was made from', async () => {
  expect(await runStage(await bootedMachine())).toContain(`RELEASE_IMAGE_DIGEST=${digest}\n`);
});

test('the images that the config names are those that later stages use', async () => {
  const host = await machineWith(`RELEASE_IMAGE=${bootedRelease}\nETCD_OPERATOR_IMAGE="r.test/etcd@${digest}"\n`);
  expect((await loadContext(host, () => {})).images).toMatchObject({ ETCD_OPERATOR_IMAGE: `r.test/etcd@${digest}` });
});

test.each([
  ['another release', other, `names sha256:${'c'.repeat(64)}, the machine was made from ${digest}`],
  ['a release by its tag', 'release.firstlight.internal/release:v1', 'which is no digest'],
])('stage 2 fails when the config names %s', async (_what, named, reason) => {
  await expect(runStage(await machineWith(`RELEASE_IMAGE=${named}\n`))).rejects.toThrow(reason);
});
