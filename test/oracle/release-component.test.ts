// A release whose component is rendered by an image that somebody else made: what the release says about it, what stays
// when it is built again, and that every blob is in it under its own digest.
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { realHost } from '../../src/host/real/real-host.ts';
import { currentRelease } from '../../src/release/current.ts';
import { extractComponent } from '../../src/release/extract.ts';
import { writeArchive } from '../../src/release/images/oci-archive.ts';
import { type OciImage, writeImage, writeIndex } from '../../src/release/images/oci-image.ts';
import { verifyRelease } from '../../src/release/verify-release.ts';
import { type Fixture, releaseFixture } from './release-fixture.ts';

let fixture: Fixture;
let image: OciImage;
let archive: string;
beforeAll(async () => {
  fixture = await releaseFixture(['pause']);
  const host = realHost();
  const layout = join(fixture.folder, 'operator');
  archive = join(fixture.folder, 'operator.tar');
  const architecture = host.environment.architecture === 'arm64' ? 'arm64' : 'amd64';
  image = await writeImage(host.files, layout, {
    name: 'elsewhere.test/ingress-operator',
    tag: 'v7',
    config: { architecture, entrypoint: ['/operator'] },
    layers: [{ operator: { kind: 'text', text: '#!/bin/sh\n', mode: 0o755 } }],
  });
  await writeIndex(host.files, layout, [image]);
  await writeArchive(host.files, layout, archive);
}, 300_000);
afterAll(() => fixture[Symbol.asyncDispose]());

describe('a release with the image of a component', () => {
  test('names it by the digest that it had, as what renders the component', async () => {
    await fixture.build('one', { components: [{ component: 'ingress', path: archive }] });
    const { manifest } = await currentRelease(fixture.host('one'));
    const reference = `release.firstlight.internal/cluster-ingress-operator@sha256:${image.digest}`;
    expect(manifest.imageVariables['INGRESS_OPERATOR_IMAGE']).toMatchObject({
      reference,
      image: 'cluster-ingress-operator',
      component: 'ingress',
      renders: 'image',
    });
    expect(manifest.images.map((each) => each.reference)).toContain(reference);
    const quiet = { report: () => {}, signal: new AbortController().signal };
    await expect(verifyRelease(fixture.host('one'), quiet)).resolves.toBeDefined();
  });

  test('gives the image out again as an archive that tar and sha256sum read', async () => {
    const to = join(fixture.folder, 'out');
    const { files } = await extractComponent(fixture.host('one'), 'cluster-ingress-operator-image', to);
    execFileSync('tar', ['-xf', files[0] ?? '', '-C', to]);
    const sums = execFileSync('sha256sum', [image.digest], { cwd: join(to, 'blobs/sha256'), encoding: 'utf8' });
    expect(sums).toBe(`${image.digest}  ${image.digest}\n`);
  });

  test('keeps it when whoever makes a cluster looks the release up, also without the file', async () => {
    const before = await currentRelease(fixture.host('one'));
    execFileSync('rm', [archive]);
    expect((await fixture.build('one', { components: 'kept' })).made).toEqual([]);
    expect((await currentRelease(fixture.host('one'))).digest).toBe(before.digest);
  });

  test('is without it again when it is built without', async () => {
    await fixture.build('one');
    const { manifest } = await currentRelease(fixture.host('one'));
    expect(manifest.images.map(({ name }) => name)).toEqual(['pause']);
  });
});
