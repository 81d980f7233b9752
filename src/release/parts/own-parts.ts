// Two parts that are not upstream Go: the Node runtime that runs us, and Firstlight itself as one bundle.
// Machines and images get exactly the Node that built the release.
import { join } from 'node:path';
import { z } from 'zod';
import { digestOf, digestOfRecord } from '../../workflow/digest.ts';
import { tailOf } from '../build/build-output.ts';
import { releaseErrors } from '../errors.ts';
import { readJsonFile } from '../cache/json-file.ts';
import type { Recipe, Workshop } from '../build/workshop.ts';

export const nodePart: Recipe = {
  kind: 'part',
  name: 'node',
  why: 'Firstlight runs on every machine, so the runtime it needs is part of what is installed.',
  estimateSeconds: 1,
  ways: [
    {
      label: 'the running Node',
      inputs: async ({ host }) => {
        const { nodePath, architecture } = host.environment;
        const facts = await host.files.facts(await host.files.realPath(nodePath));
        // Size and time instead of a digest: this is asked on every build, and hashing 150 MB is not free.
        return { made: 'copy', architecture, size: String(facts?.sizeBytes), at: String(facts?.modifiedAt.getTime()) };
      },
      make: async ({ host }, { folder }) => {
        const asked = await host.processes.run(host.environment.nodePath, ['--version'], { timeoutMs: 20_000 });
        await host.files.makeFolder(join(folder, 'bin'));
        const copy = host.files.stream(await host.files.realPath(host.environment.nodePath));
        await host.files.writeStream(join(folder, 'bin', 'node'), copy, { mode: 0o755 });
        return { version: asked.stdout.trim().replace(/^v/, ''), licence: 'MIT', source: 'https://nodejs.org' };
      },
    },
  ],
};

export const firstlightPart: Recipe = {
  kind: 'part',
  name: 'firstlight',
  why: 'The units on machines and the pods in the cluster run the same program as the workstation.',
  estimateSeconds: 2,
  ways: [
    {
      label: 'its sources',
      inputs: (shop) => shop.once('inputs of firstlight', () => bundleInputs(shop)),
      make: async (shop, { folder, signal }) => {
        const { host, projectFolder } = shop;
        const script = join(projectFolder, 'tools', 'bundle.ts');
        const lib = join(folder, 'lib');
        const result = await host.processes.run(host.environment.nodePath, [script, lib], {
          signal,
          timeoutMs: 120_000,
        });
        if (result.code !== 0) throw releaseErrors.BUILD_FAILED({ part: 'firstlight', reason: tailOf(result) });
        return { version: shop.version, licence: 'Apache-2.0', source: 'this checkout' };
      },
    },
  ],
};

/** Everything the bundle is made of: our sources, the lockfile and the bundler's own script. */
async function bundleInputs(shop: Workshop): Promise<Record<string, string>> {
  const paths = [...(await sourceFiles(shop, 'src')), 'package-lock.json', 'tools/bundle.ts'];
  return { made: 'bundle', sources: await rememberedDigest(shop, paths) };
}

async function sourceFiles(shop: Workshop, folder: string): Promise<readonly string[]> {
  const names = (await shop.host.files.list(join(shop.projectFolder, folder))) ?? [];
  const found = names.map(async (name) => {
    const path = `${folder}/${name}`;
    if (!name.includes('.')) return sourceFiles(shop, path);
    return name.endsWith('.test.ts') ? [] : [path];
  });
  return (await Promise.all(found)).flat();
}

const memorySchema = z.object({ stamp: z.string(), digest: z.string() });

/** The digest over the files' content, read again only when a size or a time has changed since the last build. */
async function rememberedDigest({ host, cache, projectFolder }: Workshop, paths: readonly string[]): Promise<string> {
  const stamps = paths.map(async (path) => {
    const facts = await host.files.facts(join(projectFolder, path));
    return [path, `${facts?.sizeBytes} ${facts?.modifiedAt.getTime()} ${facts?.identity}`] as const;
  });
  const stamp = digestOfRecord(Object.fromEntries(await Promise.all(stamps)));
  const memory = join(cache.folder, 'sources.json');
  const known = await readJsonFile(host.files, memory, memorySchema);
  if (known?.stamp === stamp) return known.digest;
  const digests = paths.map(
    async (path) => [path, digestOf(await host.files.read(join(projectFolder, path)))] as const,
  );
  const digest = digestOfRecord(Object.fromEntries(await Promise.all(digests)));
  await host.files.makeFolder(cache.folder);
  await host.files.write(memory, JSON.stringify({ stamp, digest }));
  return digest;
}
