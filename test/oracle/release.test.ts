// Real tools judge what a release build leaves: tar and sha256sum read its images, a killed build is continued.
import { execFileSync, spawn } from 'node:child_process';
import { readdir, readFile, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Host } from '../../src/host/host.ts';
import { currentRelease, readLayerText } from '../../src/release/current.ts';
import { extractComponent } from '../../src/release/extract.ts';
import { sbomPath } from '../../src/release/release-recipe.ts';
import { verifyRelease } from '../../src/release/verify-release.ts';
import { type Fixture, projectFolder, releaseFixture } from './release-fixture.ts';

let fixture: Fixture;
beforeAll(async () => {
  fixture = await releaseFixture(['pause', 'cni']);
  await fixture.build('one');
}, 300_000);
afterAll(() => fixture[Symbol.asyncDispose]());

const quiet = { report: () => {}, signal: new AbortController().signal };

describe('a release', () => {
  test('has the same digests when it is built again in another folder', async () => {
    await fixture.build('two');
    const [one, two] = [await currentRelease(fixture.host('one')), await currentRelease(fixture.host('two'))];
    expect(two.manifest).toEqual(one.manifest);
    expect(two.digest).toBe(one.digest);
  });

  test('has nothing to do the second time', async () => {
    expect((await fixture.build('one')).made).toEqual([]);
  });

  test('is an OCI archive whose blobs sha256sum finds under their own names', async () => {
    const to = join(fixture.folder, 'archive');
    const { files } = await extractComponent(fixture.host('one'), 'release', to);
    execFileSync('tar', ['-xf', files[0]!, '-C', to]);
    const blobs = join(to, 'blobs/sha256');
    const names = await readdir(blobs);
    const sums = execFileSync('sha256sum', names, { cwd: blobs, encoding: 'utf8' }).trim().split('\n');
    expect(sums).toEqual(names.map((name) => `${name}  ${name}`));
    const index = JSON.parse(await readFile(join(to, 'index.json'), 'utf8')) as { manifests: { digest: string }[] };
    for (const { digest } of index.manifests) expect(names).toContain(digest.replace('sha256:', ''));
  });

  test('has layers that tar lists sorted, owned by root and without a time', async () => {
    const { release, manifest } = await currentRelease(fixture.host('one'));
    const blobs = join(release.content, 'blobs/sha256');
    const image = manifest.images.find(({ name }) => name === 'pause')!;
    const { layers } = JSON.parse(await readFile(join(blobs, image.digest), 'utf8')) as {
      layers: { digest: string }[];
    };
    const layer = join(blobs, layers[0]!.digest.replace('sha256:', ''));
    const list = execFileSync('tar', ['--utc', '--full-time', '-tvf', layer], { encoding: 'utf8' }).trim().split('\n');
    const rows = list.map((line) => line.split(/\s+/));
    expect(rows.map((row) => row[5])).toEqual([
      'etc/',
      'etc/group',
      'etc/passwd',
      'tmp/',
      'usr/',
      'usr/local/',
      'usr/local/bin/',
      'usr/local/bin/pause',
    ]);
    expect(new Set(rows.map((row) => `${row[1]} ${row[3]} ${row[4]}`))).toEqual(new Set(['0/0 1970-01-01 00:00:00']));
    expect(rows.find((row) => row[5] === 'tmp/')?.[0]).toBe('drwxrwxrwt');
    expect(rows.at(-1)?.[0]).toBe('-rwxr-xr-x');
  });

  test('gives out a part that runs', async () => {
    const to = join(fixture.folder, 'bin');
    await extractComponent(fixture.host('one'), 'cni', to);
    const env = { CNI_COMMAND: 'VERSION' };
    const said = execFileSync(join(to, 'loopback'), { env, input: '{"cniVersion":"1.0.0"}', encoding: 'utf8' });
    expect(JSON.parse(said)).toMatchObject({ supportedVersions: expect.arrayContaining(['1.0.0']) });
  });

  test('gives out what it brings into a cluster, with its images by digest', async () => {
    const to = join(fixture.folder, 'manifests');
    await extractComponent(fixture.host('one'), 'manifests', to);
    // Neither part is run by an operator: of the payload there is only what says which release this is.
    expect(await readdir(to)).toEqual(['image-references', 'release-metadata']);
    const { metadata, spec } = JSON.parse(await readFile(join(to, 'image-references'), 'utf8')) as ImageStream;
    expect(metadata.name).toBe('0.0.1');
    const { manifest } = await currentRelease(fixture.host('one'));
    expect(spec.tags.map(({ name, from }) => [name, from.name])).toEqual(
      manifest.images.map(({ name, reference }) => [name, reference]),
    );
  });

  test('refuses to give out what it does not have, and says what it has', async () => {
    await expect(extractComponent(fixture.host('one'), 'etcd', fixture.folder)).rejects.toMatchObject({
      code: 'RELEASE_UNKNOWN_NAME',
      message: 'there is no component etcd; known: pause, cni, node, firstlight, pause-image, release, manifests, sbom',
    });
  });

  test('lists in its bill of materials exactly the Go modules that the binaries name', async () => {
    const current = await currentRelease(fixture.host('one'));
    const bom = JSON.parse(await readLayerText(fixture.host('one').files, current, sbomPath)) as Bom;
    expect(bom).toMatchObject({ bomFormat: 'CycloneDX', specVersion: '1.6' });
    const cni = bom.components.find((component) => component.name === 'cni')!;
    const listed = cni.components.filter((c) => c.purl?.startsWith('pkg:golang/')).map((c) => `${c.name} ${c.version}`);
    const to = join(fixture.folder, 'sbom-bin');
    await extractComponent(fixture.host('one'), 'cni', to);
    const said = execFileSync('go', ['version', '-m', to], { encoding: 'utf8', cwd: '/' });
    const linked = [...said.matchAll(/^\tdep\t(\S+)\t(\S+)/gm)].map(([, path, version]) => `${path} ${version}`);
    expect(listed).toEqual([...new Set(linked)].sort());
    const npm = bom.components.find((component) => component.name === 'firstlight')!.components;
    expect(npm.map((component) => component.name)).toContain('zod');
  });
});

interface ImageStream {
  readonly metadata: { readonly name: string };
  readonly spec: { readonly tags: readonly { readonly name: string; readonly from: { readonly name: string } }[] };
}

interface Bom {
  readonly components: readonly (BomComponent & { readonly components: readonly BomComponent[] })[];
}
interface BomComponent {
  readonly name: string;
  readonly version: string;
  readonly purl?: string;
}

test('two builds at once do the work once', async () => {
  const options = { onlyParts: ['pause', 'cni'] };
  const [first, second] = await Promise.all([fixture.build('both', options), fixture.build('both', options)]);
  expect([...first.made, ...second.made].sort()).toEqual(['part cni', 'part pause']);
  const waited = [...first.events, ...second.events].filter((event) => event.kind === 'notice');
  expect(waited).toEqual([expect.objectContaining({ text: expect.stringMatching(/^waiting for .*\(process \d+\)$/) })]);
});

describe('without Go', () => {
  const withoutGo = (cache: string): Host => {
    const host = fixture.host(cache);
    return { ...host, processes: { ...host.processes, find: async () => undefined } };
  };

  test('a complete cache is still a release', async () => {
    expect((await fixture.build('one', { host: withoutGo('one') })).made).toEqual([]);
  });

  test('a part that has to be compiled says which Go to install', async () => {
    await expect(fixture.build('no-go', { host: withoutGo('no-go'), onlyParts: ['pause'] })).rejects.toMatchObject({
      code: 'RELEASE_GO_MISSING',
      hint: expect.stringMatching(/Install Go 1\.\d+\.\d+ or newer/),
    });
  });
});

describe('a damaged cache entry', () => {
  test('is named and built again, and nothing else is', async () => {
    const before = await fixture.build('damaged');
    const entry = before.entries.find(({ manifest }) => manifest.name === 'cni')!;
    await truncate(join(entry.content, 'bin/bridge'), 1000);
    const after = await fixture.build('damaged');
    expect(after.made).toEqual(['part cni']);
    const warnings = after.events.filter((event) => event.kind === 'notice' && event.level === 'warn');
    expect(warnings).toEqual([
      expect.objectContaining({
        text: expect.stringMatching(/^part cni: .*bin\/bridge has 1000 bytes, recorded were \d+/),
      }),
    ]);
    await expect(verifyRelease(fixture.host('damaged'), quiet)).resolves.toMatchObject({ version: '0.0.1' });
  });

  test('of the same size and time is found by verify, and then by build', async () => {
    const host = fixture.host('damaged');
    const { entries } = await fixture.build('damaged');
    const path = join(entries.find(({ manifest }) => manifest.name === 'pause')!.content, 'bin/pause');
    const bytes = await readFile(path);
    bytes[bytes.length >> 1]! ^= 1;
    execFileSync('cp', ['--preserve=timestamps', path, `${path}.time`]);
    await writeFile(path, bytes);
    execFileSync('touch', ['--reference', `${path}.time`, path]);
    execFileSync('rm', [`${path}.time`]);
    expect((await fixture.build('damaged')).made).toEqual([]);
    await expect(verifyRelease(host, quiet)).rejects.toMatchObject({
      code: 'RELEASE_NOT_VERIFIED',
      message: expect.stringContaining('part pause: bin/pause has another content than recorded'),
    });
    expect((await fixture.build('damaged')).made).toEqual(['part pause']);
    await expect(verifyRelease(host, quiet)).resolves.toBeDefined();
  });
});

test('a damaged layer of the release is refused in words', async () => {
  const host = fixture.host('damaged');
  await fixture.build('damaged');
  const { release, digest } = await currentRelease(host);
  const path = join(release.content, 'blobs/sha256', digest);
  const { layers } = JSON.parse(await readFile(path, 'utf8')) as { layers: { digest: string }[] };
  const layer = join(release.content, 'blobs/sha256', layers[0]!.digest.replace('sha256:', ''));
  await truncate(layer, 700);
  await expect(verifyRelease(host, quiet)).rejects.toMatchObject({ code: 'RELEASE_ENTRY_DAMAGED' });
  expect((await fixture.build('damaged')).made).toEqual(['release release']);
});

describe('a build killed in the middle', () => {
  test('is continued: what was finished is kept, nothing half-made is used or left', async () => {
    const cache = join(fixture.folder, 'killed');
    const env = { ...process.env, FIRSTLIGHT_CACHE: cache };
    const args = [join(projectFolder, 'src/main.ts'), 'release', 'build', '--part', 'pause', '--part', 'cni'];
    const child = spawn(process.execPath, [...args, '--source', 'build'], { env, stdio: 'ignore' });
    const isBuilding = async (): Promise<boolean> =>
      (await readdir(join(cache, 'tmp')).catch(() => [])).some((name) => name.startsWith('part-cni-'));
    while (!(await isBuilding())) await pause(5);
    child.kill('SIGKILL');
    await new Promise((resolve) => child.once('close', resolve));
    expect(await readdir(join(cache, 'part')).catch(() => [])).toEqual(['pause']);

    const again = await fixture.build('killed', { onlyParts: ['pause', 'cni'] });
    expect(again.made).toEqual(['part cni']);
    expect(await readdir(join(cache, 'tmp')).catch(() => [])).toEqual([]);
  });

  test('by the person stops at once, and the next one goes on', async () => {
    const cancel = new AbortController();
    const reason = new Error('Ctrl-C');
    const running = fixture.build('cancelled', {
      signal: cancel.signal,
      emit: (event) => {
        if (event.kind === 'stage-started') cancel.abort(reason);
      },
    });
    await expect(running).rejects.toBe(reason);
    expect((await fixture.build('cancelled', { onlyParts: ['pause'] })).made).toEqual(['part pause']);
  });
});
