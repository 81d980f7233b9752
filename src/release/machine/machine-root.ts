// The root that every machine starts from, read-only under an overlay of its own: Debian, the parts, and Firstlight.
// A real copy of what it is made of: damage to an entry must never be damage to another one that looks whole.
import { dirname, join } from 'node:path';
import { tailOf } from '../build/build-output.ts';
import type { CacheEntry } from '../cache/cache.ts';
import { releaseErrors } from '../errors.ts';
import { firstlightFolder } from '../images/firstlight-image.ts';
import { imageOfEntry } from '../images/images.ts';
import { referenceByDigest } from '../images/oci-image.ts';
import { compileScript, keepCompiledProgram, smallFlags } from './compiled-program.ts';
import { need, type Recipe, type Work, type Workshop } from '../build/workshop.ts';
import { releaseFile } from '../../contract/machine-paths.ts';

export interface RootIngredients {
  readonly debian: Recipe;
  readonly parts: readonly Recipe[];
  readonly release: Recipe;
}

/** What of a part goes where; a part that is not named here runs from its image or on the workstation only. */
const places: Readonly<Record<string, readonly [from: string, to: string]>> = {
  kubernetes: ['bin', 'usr/local/bin'],
  etcd: ['bin', 'usr/local/bin'],
  containerd: ['bin', 'usr/local/bin'],
  'containerd-shim': ['bin', 'usr/local/bin'],
  ignition: ['bin', 'usr/local/bin'],
  'ignition-validate': ['bin', 'usr/local/bin'],
  cni: ['bin', 'opt/cni/bin'],
  node: ['bin', `${firstlightFolder}/bin`],
  firstlight: ['lib', `${firstlightFolder}/dist`],
};

/**
 * A link to it is called by the link's name, which only the launcher sees: Node resolves the path of its script. A unit
 * says by FIRSTLIGHT_SIZE=small that its program shall be so.
 */
const launcher = `#!/bin/sh
flags=
[ "\${FIRSTLIGHT_SIZE-}" = small ] && flags='${smallFlags.join(' ')}'
FIRSTLIGHT_CALLED_AS=\${0##*/} exec /${firstlightFolder}/bin/node $flags /${firstlightFolder}/dist/firstlight.mjs "$@"
`;
/** The launcher's other names; what the program is under each, src/torcx/program-names.ts says. */
const launcherLinks = ['tectonic-torcx-bootstrap', 'tectonic-torcx-hook-pre'];

export function machineRootRecipe(ingredients: RootIngredients): Recipe {
  return {
    kind: 'root',
    name: 'machine',
    why: 'All machines share one folder, so that starting one copies nothing.',
    estimateSeconds: 6,
    recordsOwners: true,
    ways: [
      {
        label: 'Debian and the parts',
        inputs: async (shop) => {
          const [debian, release] = [await need(shop, ingredients.debian), await need(shop, ingredients.release)];
          return {
            format: '2',
            debian: debian.manifest.treeDigest,
            release: imageOfEntry(release).digest,
            places: JSON.stringify(places),
            launcher,
            launcherLinks: launcherLinks.join(' '),
            compileScript,
          };
        },
        make: (shop, work) => assemble(shop, work, ingredients),
      },
    ],
  };
}

async function assemble(shop: Workshop, work: Work, ingredients: RootIngredients): Promise<Record<string, unknown>> {
  const { files } = shop.host;
  await copyTree(shop, work, { from: (await need(shop, ingredients.debian)).content, to: '' });
  for (const recipe of ingredients.parts) {
    const { content } = await need(shop, recipe);
    const [from, to] = places[recipe.name] ?? [];
    if (from !== undefined && to !== undefined) await copyTree(shop, work, { from: join(content, from), to });
  }
  const programs = join(work.folder, 'usr/local/bin');
  await files.write(join(programs, 'firstlight'), launcher, { mode: 0o755 });
  for (const name of launcherLinks) await files.symlink('firstlight', join(programs, name));
  await keepCompiledProgram(shop, work);
  const release = await need(shop, ingredients.release);
  await describeRelease(shop, work.folder, release);
  return { release: imageOfEntry(release).digest };
}

async function describeRelease(shop: Workshop, root: string, release: CacheEntry): Promise<void> {
  const { files } = shop.host;
  const folder = join(root, dirname(releaseFile));
  await files.makeFolder(folder);
  const image = imageOfEntry(release);
  const about = { reference: referenceByDigest(image), digest: `sha256:${image.digest}` };
  await files.write(join(folder, 'release-image.json'), `${JSON.stringify(about, null, 2)}\n`);
  await files.write(join(root, releaseFile), `${JSON.stringify(release.manifest.facts['manifest'], null, 2)}\n`);
}

/** Content of one folder into another, with owners, modes and links; shares blocks where the disk can. */
async function copyTree(
  shop: Workshop,
  work: Work,
  { from, to }: { readonly from: string; readonly to: string },
): Promise<void> {
  const target = join(work.folder, to);
  await shop.host.files.makeFolder(target);
  const args = ['--archive', '--reflink=auto', '--no-target-directory', from, target];
  const copied = await shop.host.processes.run('cp', args, { signal: work.signal, timeoutMs: 300_000 });
  if (copied.code !== 0) throw releaseErrors.BUILD_FAILED({ part: 'the machine root', reason: tailOf(copied) });
}
