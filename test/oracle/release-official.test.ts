// Official binaries come over real HTTP from a server of ours: as pinned, different, without a pin, and not at all.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { makeEntry, openBuilder, type Recipe, type ReleaseBuilder } from '../../src/release/build/builder.ts';
import { type OfficialSource, officialMethod } from '../../src/release/parts/official-binaries.ts';
import { partRecipe } from '../../src/release/parts/part-recipe.ts';
import type { Part } from '../../src/release/parts/parts.ts';
import { type Fixture, projectFolder, releaseFixture } from './release-fixture.ts';

let fixture: Fixture;
let server: Server;
let base: string;
const served = new Map<string, Buffer>();
const requested: string[] = [];

beforeAll(async () => {
  fixture = await releaseFixture(['pause']);
  server = createServer((request, response) => {
    const path = request.url ?? '';
    requested.push(path);
    const body = served.get(path);
    if (path.startsWith('/moved/')) response.writeHead(302, { location: path.replace('/moved', '') }).end();
    else response.writeHead(body === undefined ? 404 : 200).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(async () => {
  await new Promise((resolve) => server.close(resolve));
  await fixture[Symbol.asyncDispose]();
});
beforeEach(() => {
  served.clear();
  requested.length = 0;
});

async function builderFor(cache: string): Promise<ReleaseBuilder> {
  return openBuilder({
    host: fixture.host(cache),
    emit: () => {},
    projectFolder,
    upstreamFolder: fixture.upstreamFolder,
    version: '0.0.1',
    source: 'any',
  });
}

/** The part as the table would have it, with these digests of what is published. */
function pinnedPart(builder: ReleaseBuilder, digests: Readonly<Record<string, string>>): Part {
  return { ...builder.table.parts[0]!, published: { amd64: digests, arm64: digests } };
}

function recipe(part: Part, source: OfficialSource): Recipe {
  const methods = [officialMethod(part, { pause: source })!, ...partRecipe(part).methods];
  return { kind: 'part', name: 'pause', why: '', estimateSeconds: 1, methods };
}

const work = { signal: new AbortController().signal, report: () => {} };
const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

test('a binary is fetched through a redirect, checked and kept', async () => {
  served.set('/v1.0.0/pause', Buffer.from('#!/bin/sh\n'));
  const source: OfficialSource = {
    url: `${base}/moved/v{version}/{file}`,
    packing: 'binary',
    files: { pause: 'pause' },
  };
  const builder = await builderFor('binary');
  const part = pinnedPart(builder, { pause: sha256(served.get('/v1.0.0/pause')!) });
  const entry = await makeEntry(builder, recipe(part, source), work);
  expect(await readFile(join(entry.content, 'bin/pause'), 'utf8')).toBe('#!/bin/sh\n');
  expect(entry.manifest.inputs['made']).toBe('official binary');
});

test('an archive gives only the files that were named', async () => {
  const folder = join(fixture.folder, 'archive');
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'pause'), 'program');
  await writeFile(join(folder, 'readme'), 'text');
  execFileSync('tar', ['-czf', join(fixture.folder, 'a.tgz'), '-C', fixture.folder, 'archive']);
  served.set('/a.tgz', await readFile(join(fixture.folder, 'a.tgz')));
  const builder = await builderFor('archive');
  const source: OfficialSource = {
    url: `${base}/a.tgz`,
    packing: 'tar.gz',
    files: { pause: 'archive/pause' },
  };
  const part = pinnedPart(builder, { 'b.tgz': '0'.repeat(64), 'a.tgz': sha256(served.get('/a.tgz')!) });
  const entry = await makeEntry(builder, recipe(part, source), work);
  expect((await builder.cache.listing(entry)).map((item) => item.path)).toEqual(['bin', 'bin/pause']);
});

test('a binary that differs from its pin is refused, whatever checksum its host publishes, and leaves nothing', async () => {
  served.set('/pause', Buffer.from('tampered'));
  served.set('/pause.sha256', Buffer.from(sha256(Buffer.from('tampered'))));
  const builder = await builderFor('tampered');
  const source: OfficialSource = { url: `${base}/pause`, packing: 'binary', files: { pause: 'pause' } };
  const part = pinnedPart(builder, { pause: sha256(Buffer.from('original')) });
  await expect(makeEntry(builder, recipe(part, source), work)).rejects.toMatchObject({ code: 'RELEASE_CHECKSUM' });
  expect(await builder.host.files.list(join(builder.cache.folder, 'tmp'))).toEqual([]);
});

test('a part that nobody pinned is compiled, and its host is not even asked', async () => {
  served.set('/pause', Buffer.from('whatever'));
  const builder = await builderFor('unpinned');
  const source: OfficialSource = { url: `${base}/pause`, packing: 'binary', files: { pause: 'pause' } };
  const part = pinnedPart(builder, { other: '0'.repeat(64) });
  const entry = await makeEntry(builder, recipe(part, source), work);
  expect(entry.manifest.inputs['made']).toBe('go build');
  expect(requested).toEqual([]);
});

test('a version that is not published is compiled instead', async () => {
  const builder = await builderFor('unpublished');
  const source: OfficialSource = { url: `${base}/v9/{file}`, packing: 'binary', files: { pause: 'pause' } };
  const entry = await makeEntry(builder, recipe(pinnedPart(builder, { pause: '0'.repeat(64) }), source), work);
  expect(entry.manifest.inputs['made']).toBe('go build');
});

test('a host that cannot be reached is asked once, and quickly', async () => {
  const builder = await builderFor('unreachable');
  const source: OfficialSource = {
    url: 'https://nowhere.invalid/{file}',
    packing: 'binary',
    files: { pause: 'pause' },
  };
  const method = officialMethod(builder.table.parts[0]!, { pause: source })!;
  const start = performance.now();
  const first = await method.unavailable?.(builder);
  expect(first).toContain('nowhere.invalid');
  expect(await method.unavailable?.(builder)).toBe(first);
  expect(performance.now() - start).toBeLessThan(3_000);
});
