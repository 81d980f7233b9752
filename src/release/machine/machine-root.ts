// The root that every machine starts from, read-only below the machine's own overlay: Debian, the parts and Firstlight.
// It is a real copy of these entries: damage to one entry must never damage another one unnoticed.
import { dirname, join } from 'node:path';
import {
  configDaemonProgram,
  partPlaces,
  releaseFile,
  releaseImageFile,
  smallProcessFlags,
  torcxPrograms,
  upstreamProgramFolder,
} from '../../contract/machine-paths.ts';
import { type MakeOptions, needEntry, type Recipe, type ReleaseBuilder } from '../build/builder.ts';
import { copyFolder, runInRoot } from '../build/run-tool.ts';
import type { CacheEntry } from '../cache/cache.ts';
import { releaseErrors } from '../errors.ts';
import { firstlightPlace } from '../images/firstlight-image.ts';
import { imageOfEntry } from '../images/images.ts';
import { referenceByDigest } from '../images/oci-image.ts';
import { crictlConfig, typedCommands } from './typed-commands.ts';

export interface RootIngredients {
  readonly debian: Recipe;
  readonly parts: readonly Recipe[];
  readonly release: Recipe;
}

/** src/main.ts reads the compile cache from here. */
const compileCacheFolder = `/${firstlightPlace}/.toolchain/compile-cache`;

/**
 * An import runs only the declarations of a chunk. Some chunks need libraries that are not installed: these may fail.
 */
const compileScript = `
import { flushCompileCache } from 'node:module';
import { readdirSync } from 'node:fs';
const chunks = '/${firstlightPlace}/dist/chunks/';
for (const name of readdirSync(chunks).filter((each) => each.endsWith('.mjs'))) await import(chunks + name).catch(() => {});
flushCompileCache();
`;

/**
 * Passes the name under which it was called in FIRSTLIGHT_CALLED_AS, because Node resolves links in the path of its
 * script. A unit sets FIRSTLIGHT_SIZE=small to run its program with the flags that save memory.
 */
const launcher = `#!/bin/sh
flags=
[ "\${FIRSTLIGHT_SIZE-}" = small ] && flags='${smallProcessFlags.join(' ')}'
FIRSTLIGHT_CALLED_AS=\${0##*/} exec /${firstlightPlace}/bin/node $flags /${firstlightPlace}/dist/firstlight.mjs "$@"
`;
/** Other names of the launcher; main.ts says which verbs each stands for. */
const launcherLinks = [...Object.values(torcxPrograms), configDaemonProgram];

export function machineRootRecipe(ingredients: RootIngredients): Recipe {
  return {
    kind: 'root',
    name: 'machine',
    why: 'All machines share one folder, so that starting one copies nothing.',
    estimateSeconds: 6,
    recordsOwners: true,
    methods: [
      {
        label: 'Debian and the parts',
        inputs: async (builder) => {
          const [debian, release] = [
            await needEntry(builder, ingredients.debian),
            await needEntry(builder, ingredients.release),
          ];
          return {
            format: '2',
            debian: debian.manifest.treeDigest,
            release: imageOfEntry(release).digest,
            places: JSON.stringify(partPlaces),
            launcher,
            launcherLinks: launcherLinks.join(' '),
            typed: JSON.stringify([typedCommands, crictlConfig]),
            compileScript,
          };
        },
        make: (builder, work) => assemble(builder, work, ingredients),
      },
    ],
  };
}

async function assemble(
  builder: ReleaseBuilder,
  work: MakeOptions,
  ingredients: RootIngredients,
): Promise<Record<string, unknown>> {
  const { files } = builder.host;
  await copyIntoRoot(builder, work, { from: (await needEntry(builder, ingredients.debian)).content, to: '' });
  for (const recipe of ingredients.parts) {
    const { content } = await needEntry(builder, recipe);
    const place = partPlaces[recipe.name];
    if (place !== undefined) await copyIntoRoot(builder, work, { from: join(content, place.from), to: place.to });
  }
  const programs = join(work.folder, 'usr/local/bin');
  await files.write(join(programs, 'firstlight'), launcher, { mode: 0o755 });
  for (const name of launcherLinks) await files.symlink('firstlight', join(programs, name));
  await writeTypedCommands(builder, work.folder);
  await writeCompileCache(builder, work);
  const release = await needEntry(builder, ingredients.release);
  await describeRelease(builder, work.folder, release);
  return { release: imageOfEntry(release).digest };
}

async function writeTypedCommands({ host: { files } }: ReleaseBuilder, root: string): Promise<void> {
  await files.makeFolder(join(root, upstreamProgramFolder));
  for (const { name, script, linkTo } of typedCommands) {
    // Where it is a link of a part, the script takes its place.
    await files.remove(join(root, 'usr/local/bin', name));
    await files.write(join(root, 'usr/local/bin', name), script, { mode: 0o755 });
    if (linkTo !== undefined) await files.symlink(linkTo, join(root, upstreamProgramFolder, name));
  }
  await files.write(join(root, crictlConfig.path), crictlConfig.text);
}

async function describeRelease(builder: ReleaseBuilder, root: string, release: CacheEntry): Promise<void> {
  const { files } = builder.host;
  const folder = join(root, dirname(releaseFile));
  await files.makeFolder(folder);
  const image = imageOfEntry(release);
  const about = { reference: referenceByDigest(image), digest: `sha256:${image.digest}` };
  await files.write(join(root, releaseImageFile), `${JSON.stringify(about, null, 2)}\n`);
  await files.write(join(root, releaseFile), `${JSON.stringify(release.manifest.facts['manifest'], null, 2)}\n`);
}

/** Copies into the root, where `to` is relative to it. */
async function copyIntoRoot(
  builder: ReleaseBuilder,
  { folder, signal }: MakeOptions,
  { from, to }: { readonly from: string; readonly to: string },
): Promise<void> {
  const target = join(folder, to);
  await builder.host.files.makeFolder(target);
  await copyFolder(builder.host, { from, to: target, part: 'the machine root', signal });
}

/**
 * Stores what V8 compiles from our program in the root: machines start about twenty of our processes while a cluster
 * comes up, and each would compile the same text again. Anything missing is compiled at the start as before. V8 accepts
 * only what was compiled with the same flags, so both sets of flags are run.
 */
async function writeCompileCache(builder: ReleaseBuilder, { folder, signal }: MakeOptions): Promise<void> {
  const part = 'the machine root';
  const node = `/${firstlightPlace}/bin/node`;
  for (const flags of [[], smallProcessFlags]) {
    const command = [node, ...flags, '--input-type=module', '--eval', compileScript];
    await runInRoot(builder.host, { folder, command, part, env: { NODE_COMPILE_CACHE: compileCacheFolder }, signal });
  }
  const kept = (await builder.host.files.list(join(folder, compileCacheFolder))) ?? [];
  if (kept.length < 2) {
    const reason = `Node kept ${kept.length} of 2 compiled forms of our program in ${compileCacheFolder}`;
    throw releaseErrors.BUILD_FAILED({ part, reason });
  }
}
