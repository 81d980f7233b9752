// Every asset of the default cluster, made with a fixed clock and seed, compared with what was reviewed last.
// `node --run golden` after a wanted change rewrites the files; the diff is the review.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createAssets } from '../../src/assets/create-assets.ts';
import { targets } from '../../src/assets/targets.ts';
import { fakeHost } from '../../src/host/fake/fake-host.ts';
import { readable } from './readable.ts';

const dir = '/cluster';

interface Cluster {
  readonly name: string;
  /** Beside this file: what was reviewed. */
  readonly reviewed: string;
  /** Beside this file; nothing: the default. */
  readonly installConfig?: string;
}

const clusters: readonly Cluster[] = [
  { name: 'the default cluster', reviewed: 'files/' },
  { name: 'a cluster with every option', reviewed: 'files-all-fields/', installConfig: 'all-fields.yaml' },
];
const beside = (name: string): string => new URL(name, import.meta.url).pathname;

async function generate({ installConfig }: Cluster): Promise<ReadonlyMap<string, string>> {
  const host = fakeHost({ seed: 'golden', start: '2026-01-01T00:00:00Z' });
  if (installConfig !== undefined) {
    await host.files.makeFolder(dir);
    await host.files.write(`${dir}/install-config.yaml`, readFileSync(beside(installConfig)), { mode: 0o600 });
  }
  const { signal } = new AbortController();
  const all = Object.values(targets).flat();
  await createAssets({ host, dir, targets: all, purpose: 'golden', emit: () => {}, signal });
  const files = [...host.disk.nodes].flatMap(([path, node]) => (node.kind === 'file' ? [[path.slice(dir.length + 1), node] as const] : []));
  return new Map(
    files
      .filter(([path]) => path !== '.firstlight/journal')
      .map(([path, node]) => [path, `mode ${node.mode.toString(8)}\n${readable(path, node.content.toString('utf8'))}`]),
  );
}

const all = await Promise.all(
  clusters.map(async (cluster) => ({ ...cluster, folder: beside(cluster.reviewed), made: await generate(cluster) })),
);
if (process.env['FIRSTLIGHT_GOLDEN'] === 'update') {
  for (const { folder, made } of all) {
    rmSync(folder, { recursive: true, force: true });
    for (const [path, text] of made) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, `${path}.txt`), text);
    }
  }
}

describe.each(all)('the assets of $name', ({ folder, made }) => {
  test('are exactly the reviewed files', () => {
    const reviewed = readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(folder.length).replace(/\.txt$/, ''));
    expect([...made.keys()].sort()).toEqual(reviewed.sort());
  });

  test.each([...made.keys()].sort())('%s is as reviewed', (path) => {
    expect(made.get(path)).toBe(readFileSync(join(folder, `${path}.txt`), 'utf8'));
  });

  test('no secret is readable by others', () => {
    for (const [path, text] of made) {
      if (/<private key|client-key-data|"key": "|"secret": "|Bearer |opensesame|dXNlcjpvcGVuc2VzYW1l/.test(text)) expect(text, path).toMatch(/^mode 600\n/);
    }
  });
});
