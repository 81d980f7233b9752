// How an upstream part gets into the cache: as the official binary if it can be reached, else compiled from the pinned
// module. `go build` verifies every module against go.sum; flags and the Go version are part of the key.
import { join } from 'node:path';
import {
  type BuildMethod,
  findEntry,
  goArchitecture,
  type MakeOptions,
  type Recipe,
  type ReleaseBuilder,
} from '../build/builder.ts';
import { runTool } from '../build/run-tool.ts';
import type { EntryFacts, EntryInputs } from '../cache/cache.ts';
import { releaseErrors } from '../errors.ts';
import { ensureDebianPackages, packageVersions } from '../machine/debian-packages.ts';
import { linkedModules } from './go.ts';
import { officialMethod } from './official-binaries.ts';
import { digestOfModule, type Part } from './parts.ts';

export function partRecipe(part: Part): Recipe {
  const official = officialMethod(part);
  return {
    kind: 'part',
    name: part.name,
    why: `${part.source} ${part.version}: ${part.binaries.map((binary) => binary.file).join(', ')}`,
    estimateSeconds: part.estimateSeconds,
    methods: official === undefined ? [compileMethod(part)] : [official, compileMethod(part)],
  };
}

function compileMethod(part: Part): BuildMethod {
  return {
    label: 'go build',
    inputs: (builder) => builder.once(`inputs of part ${part.name}`, () => compileInputs(builder, part)),
    make: (builder, work) => compile(builder, part, work),
  };
}

async function compileInputs(builder: ReleaseBuilder, part: Part): Promise<EntryInputs> {
  const module = await builder.once(`module ${part.module}`, () =>
    digestOfModule(builder.host, join(builder.table.folder, part.module)),
  );
  const go = await builder.go();
  return {
    made: 'go build',
    module,
    version: part.version,
    flags: JSON.stringify(goFlags(builder, part)),
    binaries: JSON.stringify(part.binaries),
    cgo: String(part.cgo),
    platform: `linux/${goArchitecture(builder)}`,
    // Without Go an entry of the Go that filled the cache can be used.
    go: go.status === 'ready' ? go.version : await lastGo(builder),
  };
}

function goFlags(builder: ReleaseBuilder, part: Part): readonly string[] {
  const tags = part.tags.length === 0 ? [] : ['-tags', part.tags.join(',')];
  return [...builder.table.flags, ...tags, '-ldflags', part.ldflags.join(' ')];
}

async function compile(builder: ReleaseBuilder, part: Part, work: MakeOptions): Promise<EntryFacts> {
  const { host } = builder;
  const go = await builder.go();
  if (go.status === 'missing') throw releaseErrors.GO_MISSING({ part: part.name, needed: builder.table.go });
  if (go.status === 'too-old') throw releaseErrors.GO_TOO_OLD({ ...go, needed: builder.table.go });
  if (part.cgo) await ensureDebianPackages(host, { packages: part.debianPackages, purpose: part.name, ...work });
  const bin = join(work.folder, 'bin');
  await host.files.makeFolder(bin);
  const [only, ...others] = part.binaries;
  const target = others.length === 0 && only !== undefined ? join(bin, only.file) : `${bin}/`;
  const packages = part.binaries.map((binary) => binary.package);
  const command = [go.program, 'build', '-v', ...goFlags(builder, part), '-o', target, ...packages];
  await runTool(host, part.name, command, {
    cwd: join(builder.table.folder, part.module),
    env: goEnvironment(builder, go.toolchain, part.cgo),
    signal: work.signal,
    onLine: compileProgress(builder, work),
  });
  await nameBinaries(builder, part, bin);
  await host.files.write(join(builder.cache.folder, 'go-version'), go.version);
  const files = part.binaries.map((binary) => join(bin, binary.file));
  const modules = await linkedModules(host.processes, go.program, files);
  const cgo = part.cgo ? { debianPackages: await packageVersions(host, part.debianPackages) } : {};
  return { version: part.version, licence: part.licence, source: part.source, go: go.version, modules, ...cgo };
}

/** States every variable that could change a binary, so that none is inherited. */
function goEnvironment(builder: ReleaseBuilder, toolchain: string, cgo: boolean): Record<string, string> {
  return {
    GOTOOLCHAIN: toolchain,
    GOOS: 'linux',
    GOARCH: goArchitecture(builder),
    GOAMD64: 'v1',
    GOARM64: 'v8.0',
    CGO_ENABLED: cgo ? '1' : '0',
    GOFLAGS: '',
    GOEXPERIMENT: '',
    GOWORK: 'off',
  };
}

async function nameBinaries(builder: ReleaseBuilder, part: Part, bin: string): Promise<void> {
  for (const { file, links } of part.binaries) {
    await builder.host.files.setMode(join(bin, file), 0o755);
    for (const link of links) await builder.host.files.symlink(file, join(bin, link));
  }
}

const reportEveryMs = 10_000;

function compileProgress(builder: ReleaseBuilder, work: MakeOptions): (line: string) => void {
  const { clock } = builder.host;
  let packages = 0;
  let toldAt = clock.monotonicMs();
  return () => {
    packages += 1;
    if (clock.monotonicMs() - toldAt < reportEveryMs) return;
    toldAt = clock.monotonicMs();
    work.report(`${packages} packages compiled`);
  };
}

async function lastGo(builder: ReleaseBuilder): Promise<string> {
  const bytes = await builder.host.files.readIfPresent(join(builder.cache.folder, 'go-version'));
  return bytes === undefined ? 'none' : Buffer.from(bytes).toString('utf8').trim();
}

/**
 * Fetches the modules of later parts while the first part compiles, because the network is idle then. Failures are
 * ignored: the build of the part itself reports them.
 */
export async function prefetchModules(
  builder: ReleaseBuilder,
  recipes: readonly Recipe[],
  signal: AbortSignal,
): Promise<void> {
  const go = await builder.go();
  if (go.status !== 'ready') return;
  for (const recipe of recipes.slice(1)) {
    const part = builder.table.parts.find(({ name }) => name === recipe.name);
    if (part === undefined || signal.aborted || (await findEntry(builder, recipe)).status === 'present') continue;
    const packages = part.binaries.map((binary) => binary.package);
    const args = ['list', '-deps', ...(part.tags.length === 0 ? [] : ['-tags', part.tags.join(',')]), ...packages];
    const options = {
      cwd: join(builder.table.folder, part.module),
      env: goEnvironment(builder, go.toolchain, part.cgo),
      signal,
      keepBytes: 1,
    };
    await builder.host.processes.run(go.program, args, options).catch(() => undefined);
  }
}
