// The two parts that are not upstream Go: the Node runtime and the bundle of Firstlight. Machines and images get
// exactly the Node that built the release.
import { join } from 'node:path';
import { z } from 'zod';
import { digestOf, digestOfRecord } from '../../workflow/digest.ts';
import type { Recipe, ReleaseBuilder } from '../build/builder.ts';
import { runTool } from '../build/run-tool.ts';
import { readJsonFile } from '../cache/cache.ts';

export const nodePart: Recipe = {
  kind: 'part',
  name: 'node',
  why: 'Firstlight runs on every machine, so the runtime it needs is part of what is installed.',
  estimateSeconds: 1,
  methods: [
    {
      label: 'the running Node',
      inputs: async ({ host }) => {
        const { nodePath, architecture } = host.environment;
        const facts = await host.files.facts(await host.files.realPath(nodePath));
        // Size and time instead of a digest: every build needs this, and hashing 150 MB takes time.
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
  methods: [
    {
      label: 'its sources',
      inputs: (builder) => builder.once('inputs of firstlight', () => bundleInputs(builder)),
      make: async (builder, { folder, signal }) => {
        const { host, projectFolder } = builder;
        const script = join(projectFolder, 'tools', 'bundle.ts');
        const lib = join(folder, 'lib');
        const command = [host.environment.nodePath, script, lib];
        await runTool(host, 'firstlight', command, { signal, timeoutMs: 120_000 });
        return { version: builder.version, licence: 'Apache-2.0', source: 'this checkout' };
      },
    },
  ],
};

/** The bundle is made from our sources, the lockfile and the script of the bundler. */
async function bundleInputs(builder: ReleaseBuilder): Promise<Record<string, string>> {
  const paths = [...(await sourceFiles(builder, 'src')), 'package-lock.json', 'tools/bundle.ts'];
  return { made: 'bundle', sources: await rememberedDigest(builder, paths) };
}

async function sourceFiles(builder: ReleaseBuilder, folder: string): Promise<readonly string[]> {
  const names = (await builder.host.files.list(join(builder.projectFolder, folder))) ?? [];
  const found = names.map(async (name) => {
    const path = `${folder}/${name}`;
    if (!name.includes('.')) return sourceFiles(builder, path);
    return name.endsWith('.test.ts') ? [] : [path];
  });
  return (await Promise.all(found)).flat();
}

const memorySchema = z.object({ stamp: z.string(), digest: z.string() });

/** The digest of the files' content; they are read again only if a size or a time changed since the last build. */
async function rememberedDigest(
  { host, cache, projectFolder }: ReleaseBuilder,
  paths: readonly string[],
): Promise<string> {
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
