// Two parts that are not upstream Go: the Node runtime that runs us, and Firstlight itself as one bundle.
// Machines and images get exactly the Node that built the release.
import { join } from 'node:path';
import { digestOf, digestOfRecord } from '../workflow/digest.ts';
import { tailOf } from './build-output.ts';
import { releaseErrors } from './errors.ts';
import type { Recipe, Workshop } from './workshop.ts';

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
async function bundleInputs({ host, projectFolder }: Workshop): Promise<Record<string, string>> {
  const digests: Record<string, string> = {};
  const add = async (path: string): Promise<void> => {
    digests[path] = digestOf(await host.files.read(join(projectFolder, path)));
  };
  const visit = async (folder: string): Promise<void> => {
    for (const name of (await host.files.list(join(projectFolder, folder))) ?? []) {
      const path = `${folder}/${name}`;
      if (name.includes('.')) await (name.endsWith('.test.ts') ? undefined : add(path));
      else await visit(path);
    }
  };
  await visit('src');
  await add('package-lock.json');
  await add('tools/bundle.ts');
  return { made: 'bundle', sources: digestOfRecord(digests) };
}
