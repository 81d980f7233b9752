// containerd judges our images: it imports and unpacks a release, and knows every image by tag and by digest.
// Needs root and a containerd that was built before; otherwise there is nothing to ask.
import { execFileSync } from 'node:child_process';
import { existsSync, globSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { realHost } from '../../src/host/real/real-host.ts';
import { fullPlan } from '../../src/release/build/build-release.ts';
import { findEntry, makeEntry, openBuilder } from '../../src/release/build/builder.ts';
import { openCache } from '../../src/release/cache/cache.ts';
import { currentRelease } from '../../src/release/current.ts';
import { containerdSeedRecipe, seedLayers } from '../../src/release/machine/containerd-seed.ts';
import { partRecipe } from '../../src/release/parts/part-recipe.ts';
import { projectFolder, releaseFixture } from './release-fixture.ts';

const options = { emit: () => {}, projectFolder, version: '0.0.1', source: 'build' } as const;
const work = { signal: new AbortController().signal, report: () => {} };

/** The containerd of the person's own cache, if it was ever built from these sources. */
async function builtContainerd() {
  if (process.getuid?.() !== 0) return undefined;
  const builder = await openBuilder({ ...options, host: realHost() });
  const part = builder.table.parts.find(({ name }) => name === 'containerd');
  const found = part === undefined ? undefined : await findEntry(builder, partRecipe(part));
  return found?.status === 'present' ? found.entry : undefined;
}

const containerd = await builtContainerd();

test.skipIf(containerd === undefined)(
  'every image is there by tag and by digest, unpacked, and nothing is left running',
  async () => {
    await using fixture = await releaseFixture(['pause']);
    await fixture.build('cache');
    const host = fixture.host('cache');
    const builder = await openBuilder({ ...options, host, upstreamFolder: fixture.upstreamFolder });
    const recipe = { kind: 'part', name: 'containerd', why: '', estimateSeconds: 1, methods: [] } as const;
    builder.present.set('part containerd', containerd!);
    const [image, release] = fullPlan(builder, false).after;
    const mountsBefore = execFileSync('cat', ['/proc/self/mountinfo'], { encoding: 'utf8' });

    const base = containerdSeedRecipe({ name: 'base', containerd: recipe, images: [image!] });
    await makeEntry(builder, base, work);
    const whole = { name: 'containerd', containerd: recipe, base, images: [release!] };
    const seed = await makeEntry(builder, containerdSeedRecipe(whole), work);

    const current = await currentRelease(host);
    const images = seed.manifest.facts['images'] as readonly string[];
    const [pause] = current.manifest.images;
    expect(images).toEqual(
      [
        pause!.reference,
        pause!.tag,
        `release.firstlight.internal/release@sha256:${current.digest}`,
        'release.firstlight.internal/release:v0.0.1',
      ].sort(),
    );
    const kept = seedLayers.flatMap((place) => globSync(join(seed.content, place)));
    expect(kept.length).toBeGreaterThan(4);
    // A whiteout would be applied by the overlay through which machines read the layers.
    expect(execFileSync('find', [seed.content, '-type', 'c'], { encoding: 'utf8' })).toBe('');
    const snapshots = join(seed.content, 'io.containerd.snapshotter.v1.overlayfs/snapshots');
    expect(execFileSync('find', [snapshots, '-name', 'pause', '-perm', '0755'], { encoding: 'utf8' })).toContain(
      'bin/pause',
    );
    expect(existsSync(join(seed.content, 'io.containerd.grpc.v1.introspection/uuid'))).toBe(false);
    expect(execFileSync('cat', ['/proc/self/mountinfo'], { encoding: 'utf8' })).toBe(mountsBefore);
    expect(await openCache(host).verify(seed)).toBeUndefined();
  },
);
