// A small release for tests: the two parts that compile in a second, in a cache folder of its own.
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Host } from '../../src/host/host.ts';
import { realHost } from '../../src/host/real/real-host.ts';
import { type BuildOptions, type BuiltRelease, buildRelease } from '../../src/release/build/build-release.ts';
import type { WorkflowEvent } from '../../src/workflow/events.ts';

export const projectFolder = fileURLToPath(new URL('../..', import.meta.url));

export interface Fixture extends AsyncDisposable {
  readonly folder: string;
  readonly upstreamFolder: string;
  /** The real machine with a cache folder of that name below the fixture. */
  host(cache: string): Host;
  build(cache: string, options?: Partial<BuildOptions>): Promise<BuiltRelease & { readonly events: WorkflowEvent[] }>;
}

export async function releaseFixture(parts: readonly string[] = ['pause']): Promise<Fixture> {
  const folder = await mkdtemp(join(tmpdir(), 'firstlight-release-'));
  const upstreamFolder = join(folder, 'upstream');
  await mkdir(upstreamFolder);
  const table = JSON.parse(await readFile(join(projectFolder, 'upstream/parts.json'), 'utf8')) as {
    parts: { name: string; module: string }[];
  };
  const chosen = table.parts.filter((part) => parts.includes(part.name));
  for (const { module } of chosen) {
    await cp(join(projectFolder, 'upstream', module), join(upstreamFolder, module), { recursive: true });
  }
  await writeFile(join(upstreamFolder, 'parts.json'), JSON.stringify({ ...table, parts: chosen }));
  const host = (cache: string): Host => {
    const real = realHost();
    const variables = { ...real.environment.variables, FIRSTLIGHT_CACHE: join(folder, cache) };
    return { ...real, environment: { ...real.environment, variables } };
  };
  return {
    folder,
    upstreamFolder,
    host,
    build: async (cache, options = {}) => {
      const events: WorkflowEvent[] = [];
      const built = await buildRelease({
        host: host(cache),
        emit: (event) => void events.push(event),
        projectFolder,
        upstreamFolder,
        version: '0.0.1',
        source: 'build',
        withMachines: false,
        signal: new AbortController().signal,
        ...options,
      });
      return { ...built, events };
    },
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}
