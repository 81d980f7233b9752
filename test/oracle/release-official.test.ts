// Official binaries come over real HTTP from a server of ours: with the right checksum, a wrong one, and not at all.
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
import { type Fixture, projectFolder, releaseFixture } from './release-fixture.ts';

let fixture: Fixture;
let server: Server;
let base: string;
const served = new Map<string, Buffer>();

beforeAll(async () => {
  fixture = await releaseFixture(['pause']);
  server = createServer((request, response) => {
    const path = request.url ?? '';
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
beforeEach(() => served.clear());

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

function recipe(builder: ReleaseBuilder, source: OfficialSource): Recipe {
  const part = builder.table.parts[0]!;
  return {
    kind: 'part',
    name: 'pause',
    why: '',
    estimateSeconds: 1,
    methods: [officialMethod(part, { pause: source })!],
  };
}

const work = { signal: new AbortController().signal, report: () => {} };
const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

test('a binary is fetched through a redirect, checked and kept', async () => {
  served.set('/v1.0.0/pause', Buffer.from('#!/bin/sh\n'));
  served.set('/v1.0.0/pause.sha256', Buffer.from(sha256(served.get('/v1.0.0/pause')!)));
  const source: OfficialSource = {
    url: `${base}/moved/v{version}/{file}`,
    checksumUrl: `${base}/v{version}/{file}.sha256`,
    packing: 'binary',
    files: { pause: 'pause' },
  };
  const builder = await builderFor('binary');
  const entry = await makeEntry(builder, recipe(builder, source), work);
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
  served.set('/SUMS', Buffer.from(`${'0'.repeat(64)}  b.tgz\n${sha256(served.get('/a.tgz')!)}  a.tgz\n`));
  const builder = await builderFor('archive');
  const source: OfficialSource = {
    url: `${base}/a.tgz`,
    checksumUrl: `${base}/SUMS`,
    packing: 'tar.gz',
    files: { pause: 'archive/pause' },
  };
  const entry = await makeEntry(builder, recipe(builder, source), work);
  expect((await builder.cache.listing(entry)).map((item) => item.path)).toEqual(['bin', 'bin/pause']);
});

test('a binary that differs from its checksum is refused and leaves nothing', async () => {
  served.set('/pause', Buffer.from('tampered'));
  served.set('/pause.sha256', Buffer.from(sha256(Buffer.from('original'))));
  const builder = await builderFor('tampered');
  const source: OfficialSource = {
    url: `${base}/pause`,
    checksumUrl: `${base}/pause.sha256`,
    packing: 'binary',
    files: { pause: 'pause' },
  };
  await expect(makeEntry(builder, recipe(builder, source), work)).rejects.toMatchObject({ code: 'RELEASE_CHECKSUM' });
  expect(await builder.host.files.list(join(builder.cache.folder, 'tmp'))).toEqual([]);
});

test('a version that is not published is compiled instead', async () => {
  const builder = await builderFor('unpublished');
  const source: OfficialSource = {
    url: `${base}/v9/{file}`,
    checksumUrl: `${base}/v9/{file}.sha256`,
    packing: 'binary',
    files: { pause: 'pause' },
  };
  const part = builder.table.parts[0]!;
  const methods = [officialMethod(part, { pause: source })!, ...partRecipe(part).methods];
  const entry = await makeEntry(builder, { ...recipe(builder, source), methods }, work);
  expect(entry.manifest.inputs['made']).toBe('go build');
});

test('a host that cannot be reached is asked once, and quickly', async () => {
  const builder = await builderFor('unreachable');
  const source: OfficialSource = {
    url: 'https://nowhere.invalid/{file}',
    checksumUrl: 'https://nowhere.invalid/{file}.sha256',
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
