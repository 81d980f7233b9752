// How an upstream part gets into the cache: as its project's own binary where that can be reached, else compiled from
// the pinned module. `go build` verifies every module against go.sum; flags and Go version are part of the key.
import { join } from 'node:path';
import { tailOf } from '../build/build-output.ts';
import type { EntryFacts, Inputs } from '../cache/cache.ts';
import { ensureDebianPackages, packageVersions } from '../machine/debian-packages.ts';
import { releaseErrors } from '../errors.ts';
import { goArchitecture } from './architecture.ts';
import { linkedModules } from './go-modules.ts';
import { digestOfModule, type Part } from './parts.ts';
import { officialWay } from './official.ts';
import type { Recipe, Way, Work, Workshop } from '../build/workshop.ts';

export function partRecipe(part: Part): Recipe {
  const official = officialWay(part);
  return {
    kind: 'part',
    name: part.name,
    why: `${part.source} ${part.version}: ${part.binaries.map((binary) => binary.file).join(', ')}`,
    estimateSeconds: part.estimateSeconds,
    ways: official === undefined ? [compiled(part)] : [official, compiled(part)],
  };
}

function compiled(part: Part): Way {
  return {
    label: 'go build',
    inputs: (shop) => shop.once(`inputs of part ${part.name}`, () => compileInputs(shop, part)),
    make: (shop, work) => compile(shop, part, work),
  };
}

async function compileInputs(shop: Workshop, part: Part): Promise<Inputs> {
  const module = await shop.once(`module ${part.module}`, () =>
    digestOfModule(shop.host, join(shop.table.folder, part.module)),
  );
  const go = await shop.go();
  return {
    made: 'go build',
    module,
    version: part.version,
    flags: JSON.stringify(goFlags(shop, part)),
    binaries: JSON.stringify(part.binaries),
    cgo: String(part.cgo),
    platform: `linux/${goArchitecture(shop)}`,
    // Without Go the cache is still good: it is looked up for the Go that filled it.
    go: go.status === 'ready' ? go.version : await lastGo(shop),
  };
}

function goFlags(shop: Workshop, part: Part): readonly string[] {
  const tags = part.tags.length === 0 ? [] : ['-tags', part.tags.join(',')];
  return [...shop.table.flags, ...tags, '-ldflags', part.ldflags.join(' ')];
}

async function compile(shop: Workshop, part: Part, work: Work): Promise<EntryFacts> {
  const { host } = shop;
  const go = await shop.go();
  if (go.status === 'missing') throw releaseErrors.GO_MISSING({ part: part.name, needed: shop.table.go });
  if (go.status === 'too-old') throw releaseErrors.GO_TOO_OLD({ ...go, needed: shop.table.go });
  if (part.cgo) await ensureDebianPackages(host, { packages: part.debianPackages, purpose: part.name, ...work });
  const bin = join(work.folder, 'bin');
  await host.files.makeFolder(bin);
  const [only, ...others] = part.binaries;
  const target = others.length === 0 && only !== undefined ? join(bin, only.file) : `${bin}/`;
  const packages = part.binaries.map((binary) => binary.package);
  const result = await host.processes.run(
    go.program,
    ['build', '-v', ...goFlags(shop, part), '-o', target, ...packages],
    {
      cwd: join(shop.table.folder, part.module),
      env: goEnvironment(shop, go.toolchain, part.cgo),
      signal: work.signal,
      onLine: compileProgress(shop, work),
    },
  );
  if (result.code !== 0) throw releaseErrors.BUILD_FAILED({ part: part.name, reason: tailOf(result) });
  await nameBinaries(shop, part, bin);
  await host.files.write(join(shop.cache.folder, 'go-version'), go.version);
  const files = part.binaries.map((binary) => join(bin, binary.file));
  const modules = await linkedModules(host.processes, go.program, files);
  const cgo = part.cgo ? { debianPackages: await packageVersions(host, part.debianPackages) } : {};
  return { version: part.version, licence: part.licence, source: part.source, go: go.version, modules, ...cgo };
}

/** Everything of the environment that could change a binary is stated, not inherited. */
export function goEnvironment(shop: Workshop, toolchain: string, cgo: boolean): Record<string, string> {
  return {
    GOTOOLCHAIN: toolchain,
    GOOS: 'linux',
    GOARCH: goArchitecture(shop),
    GOAMD64: 'v1',
    GOARM64: 'v8.0',
    CGO_ENABLED: cgo ? '1' : '0',
    GOFLAGS: '',
    GOEXPERIMENT: '',
    GOWORK: 'off',
  };
}

async function nameBinaries(shop: Workshop, part: Part, bin: string): Promise<void> {
  for (const { file, links } of part.binaries) {
    await shop.host.files.setMode(join(bin, file), 0o755);
    for (const link of links) await shop.host.files.symlink(file, join(bin, link));
  }
}

const reportEveryMs = 10_000;

function compileProgress(shop: Workshop, work: Work): (line: string) => void {
  const { clock } = shop.host;
  let packages = 0;
  let toldAt = clock.monotonicMs();
  return () => {
    packages += 1;
    if (clock.monotonicMs() - toldAt < reportEveryMs) return;
    toldAt = clock.monotonicMs();
    work.report(`${packages} packages compiled`);
  };
}

async function lastGo(shop: Workshop): Promise<string> {
  const bytes = await shop.host.files.readIfPresent(join(shop.cache.folder, 'go-version'));
  return bytes === undefined ? 'none' : Buffer.from(bytes).toString('utf8').trim();
}
