import { beforeAll, describe, expect, test } from 'vitest';
import {
  kubeletPullSecret,
  registryHostsFolder,
  releaseFile,
  releaseImageFile,
  releaseKeyFile,
} from '../../contract/machine-paths.ts';
import { Crash, fakeDisk, fakeFiles } from '../../host/fake/fake-files.ts';
import { decidePivot } from './decide-pivot.ts';
import {
  type FakeRelease,
  layoutFolder,
  type PivotMachine,
  pivotMachine,
  registryOf,
  writeFakeRelease,
} from './fake-machine.ts';
import { pivotRelease } from './pivot-release.ts';

const log: string[] = [];
const options = { signal: new AbortController().signal, log: (line: string) => void log.push(line) };

let booted: FakeRelease;
let named: FakeRelease;
beforeAll(async () => {
  booted = await writeFakeRelease(fakeFiles(fakeDisk()), layoutFolder, '1.0.0');
  named = await writeFakeRelease(fakeFiles(fakeDisk()), layoutFolder, '2.0.0');
});

/** A machine whose config names the second release and has its layout. */
async function withLayout(): Promise<PivotMachine> {
  const machine = await pivotMachine(booted, `RELEASE_IMAGE=${named.reference}\nRELEASE_LAYOUT=${layoutFolder}\n`);
  await writeFakeRelease(fakeFiles(machine.disk), layoutFolder, '2.0.0');
  machine.disk.changes = 0;
  return machine;
}

async function expectChanged(machine: PivotMachine): Promise<void> {
  const { files } = machine.host();
  for (const [path, text] of Object.entries(named.programs)) expect(await files.readText(path)).toBe(text);
  expect(JSON.parse(await files.readText(releaseFile))).toEqual(named.manifest);
  expect(JSON.parse(await files.readText(releaseImageFile))).toMatchObject({ reference: named.reference });
  for (const { reference, tag } of named.manifest.images) {
    expect([...machine.images.keys()]).toEqual(expect.arrayContaining([reference, tag]));
  }
  expect([...machine.disk.nodes.keys()].filter((path) => path.includes('pivot'))).toEqual([]);
}

describe('the decision', () => {
  const image = (digit: string): string => `r.test/release@sha256:${digit.repeat(64)}`;
  test.each([
    ['no release is named', { named: undefined, booted: image('1') }, 'stay'],
    ['the booted one is named', { named: image('1'), booted: image('1') }, 'stay'],
    [
      'it is named by another registry',
      { named: image('1').replace('r.test', 'mirror.test'), booted: image('1') },
      'stay',
    ],
    ['another one is named', { named: image('2'), booted: image('1') }, 'pivot'],
    ['nobody knows what was booted', { named: image('2'), booted: undefined }, 'pivot'],
    ['a tag is named', { named: 'r.test/release:v2', booted: image('1') }, 'refuse'],
  ] as const)('%s', (_, facts, kind) => {
    expect(decidePivot(facts).kind).toBe(kind);
  });
});

test('a machine that booted the named release says so and changes nothing', async () => {
  const machine = await pivotMachine(named, `RELEASE_IMAGE=${named.reference}\n`);
  machine.disk.changes = 0;
  expect(await pivotRelease(machine.host(), options)).toMatchObject({
    isNew: false,
    said: expect.stringContaining('runs the release') as string,
  });
  expect({ changes: machine.disk.changes, calls: machine.calls }).toEqual({ changes: 0, calls: [] });
});

test('from a layout: images, then programs, then the record; a second run has nothing to do', async () => {
  const machine = await withLayout();
  const outcome = await pivotRelease(machine.host(), options);
  expect(outcome.said).toContain('goes on with release 2.0.0');
  await expectChanged(machine);
  expect(machine.calls.at(0)).toBe('systemctl start containerd.service');
  const restarts = machine.calls.filter((call) => call.includes('restart'));
  expect(restarts).toEqual([
    'systemctl restart containerd.service',
    expect.stringContaining('--no-block try-restart kubelet.service'),
  ]);
  const before = machine.calls.length;
  expect((await pivotRelease(machine.host(), options)).isNew).toBe(false);
  expect(machine.calls).toHaveLength(before);
});

test('from a registry, beside the release image and with the credentials of the machine', async () => {
  const image = named.reference.replace('release.firstlight.internal', 'r.test/team');
  const machine = await pivotMachine(booted, `RELEASE_IMAGE=${image}\n`);
  const { files } = machine.host();
  const other = fakeFiles(fakeDisk());
  await writeFakeRelease(other, layoutFolder, '2.0.0');
  for (const [name, content] of await registryOf(other, layoutFolder)) {
    machine.registry.set(name.replace('release.firstlight.internal', 'r.test/team'), content);
  }
  machine.login = 'me:secret';
  await expect(pivotRelease(machine.host(), options)).rejects.toThrow(
    /r\.test\/team\/release@.* cannot be had: ctr: 401/,
  );
  const secret = async (registry: string): Promise<void> => {
    const auth = Buffer.from('me:secret').toString('base64');
    await files.write(kubeletPullSecret, JSON.stringify({ auths: { [registry]: { auth } } }));
  };
  await files.makeFolder(kubeletPullSecret.slice(0, kubeletPullSecret.lastIndexOf('/')));
  // The pull secret may name the mirror alone, which answers for the registry.
  await secret('mirror.test:5000');
  await expect(pivotRelease(machine.host(), options)).rejects.toThrow(/401/);
  await files.makeFolder(`${registryHostsFolder}/r.test`);
  const hosts = `${registryHostsFolder}/r.test/hosts.toml`;
  await files.write(hosts, '[host."https://mirror.test:5000/v2/copies"]\noverride_path = true\n');
  await pivotRelease(machine.host(), options);
  expect(JSON.parse(await files.readText(releaseImageFile))).toMatchObject({ reference: image });
  expect(await files.readText('/usr/local/bin/kube')).toBe('kube 2.0.0');
  for (const { reference } of named.manifest.images) expect(machine.images.has(reference)).toBe(true);
});

describe('what cannot be verified is refused, and the machine stays what it was', () => {
  async function refused(machine: PivotMachine): Promise<string> {
    const error = await pivotRelease(machine.host(), options).then(
      () => new Error('nothing was refused'),
      (thrown: unknown) => thrown as Error,
    );
    const { files } = machine.host();
    expect(JSON.parse(await files.readText(releaseImageFile))).toEqual({ reference: booted.reference });
    expect(await files.readText('/usr/local/bin/kube')).toBe('kube 1.0.0');
    return error.message;
  }

  test('a release by tag', async () => {
    expect(await refused(await pivotMachine(booted, 'RELEASE_IMAGE=r.test/release:v2\n'))).toContain(
      'which is no digest',
    );
  });

  test('a layout that is not there, and one without the release', async () => {
    const machine = await pivotMachine(booted, `RELEASE_IMAGE=${named.reference}\nRELEASE_LAYOUT=${layoutFolder}\n`);
    expect(await refused(machine)).toBe(`${layoutFolder} cannot be had: it is not there`);
    await writeFakeRelease(machine.host().files, layoutFolder, '3.0.0');
    expect(await refused(machine)).toContain('does not contain it');
  });

  test('a program with another digest than the release says', async () => {
    const machine = await withLayout();
    await pivotRelease(machine.host(), options);
    const fresh = await withLayout();
    for (const [name, files] of machine.images) fresh.images.set(name, new Map(files));
    const reference = named.manifest.images.find(({ name }) => name === 'kubernetes')?.reference ?? '';
    fresh.images.get(reference)?.set('/usr/local/bin/kube', 'kube, by somebody else');
    expect(await refused(fresh)).toMatch(/\/usr\/local\/bin\/kube is not what the named release says: its digest is/);
  });

  test('a release without the signature of the key that the machine was given', async () => {
    const machine = await withLayout();
    await machine.host().files.write(releaseKeyFile, 'a key');
    expect(await refused(machine)).toContain('no signature of it is at /etc/firstlight/signatures/sha256=');
  });
});

test('killed at any change and before any call of a program, the next run continues', async () => {
  const whole = await withLayout();
  await pivotRelease(whole.host(), options);
  const changes = whole.disk.changes;
  expect(changes).toBeGreaterThan(30);
  for (let crash = 1; crash <= changes; crash += 1) {
    const machine = await withLayout();
    machine.disk.crashAt = crash;
    await expect(pivotRelease(machine.host(), options)).rejects.toThrow(Crash);
    delete machine.disk.crashAt;
    await pivotRelease(machine.host(), options);
    await expectChanged(machine);
  }
});
