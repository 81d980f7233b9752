// The root that every machine starts from, read-only under an overlay of its own: Debian, the parts, and Firstlight.
// Files are shared with the entries they come from by hard links; nothing in here is ever changed in place.
import { join } from 'node:path';
import { tailOf } from '../build/build-output.ts';
import type { Entry } from '../cache/cache.ts';
import { releaseErrors } from '../errors.ts';
import { firstlightFolder } from '../images/firstlight-image.ts';
import { imageOf } from '../images/images.ts';
import { referenceByDigest } from '../images/oci-image.ts';
import { need, type Recipe, type Work, type Workshop } from '../build/workshop.ts';

export interface RootIngredients {
  readonly debian: Recipe;
  readonly parts: readonly Recipe[];
  readonly release: Recipe;
}

/** Where a part's `bin` goes; a part that is not named here runs from its image or on the workstation only. */
const places: Readonly<Record<string, string>> = {
  kubernetes: 'usr/local/bin',
  etcd: 'usr/local/bin',
  containerd: 'usr/local/bin',
  'containerd-shim': 'usr/local/bin',
  ignition: 'usr/local/bin',
  'ignition-validate': 'usr/local/bin',
  cni: 'opt/cni/bin',
  node: `${firstlightFolder}/bin`,
};

/** What a machine knows about the release it was made from. */
export const releaseFolder = 'usr/local/share/firstlight';

/** A link to it is called by the link's name, which only the launcher sees: Node resolves the path of its script. */
const launcher = `#!/bin/sh
FIRSTLIGHT_CALLED_AS=\${0##*/} exec /${firstlightFolder}/bin/node /${firstlightFolder}/dist/firstlight.mjs "$@"
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
            format: '1',
            debian: debian.manifest.treeDigest,
            release: imageOf(release).digest,
            places: JSON.stringify(places),
            launcher,
            launcherLinks: launcherLinks.join(' '),
          };
        },
        make: (shop, work) => assemble(shop, work, ingredients),
      },
    ],
  };
}

async function assemble(shop: Workshop, work: Work, ingredients: RootIngredients): Promise<Record<string, unknown>> {
  const { files, processes } = shop.host;
  const debian = await need(shop, ingredients.debian);
  const args = ['-al', '--no-target-directory', debian.content, work.folder];
  const copied = await processes.run('cp', args, { signal: work.signal, timeoutMs: 300_000 });
  if (copied.code !== 0) throw releaseErrors.BUILD_FAILED({ part: 'the machine root', reason: tailOf(copied) });
  for (const recipe of ingredients.parts) {
    const part = await need(shop, recipe);
    const place = places[recipe.name];
    if (place !== undefined) await linkTree(shop, join(part.content, 'bin'), join(work.folder, place));
    if (recipe.name === 'firstlight') {
      await linkTree(shop, join(part.content, 'lib'), join(work.folder, firstlightFolder, 'dist'));
    }
  }
  const programs = join(work.folder, 'usr/local/bin');
  await files.write(join(programs, 'firstlight'), launcher, { mode: 0o755 });
  for (const name of launcherLinks) await files.symlink('firstlight', join(programs, name));
  const release = await need(shop, ingredients.release);
  await describeRelease(shop, work.folder, release);
  return { release: imageOf(release).digest };
}

async function describeRelease(shop: Workshop, root: string, release: Entry): Promise<void> {
  const { files } = shop.host;
  const folder = join(root, releaseFolder);
  await files.makeFolder(folder);
  const image = imageOf(release);
  const about = { reference: referenceByDigest(image), digest: `sha256:${image.digest}` };
  await files.write(join(folder, 'release-image.json'), `${JSON.stringify(about, null, 2)}\n`);
  await files.write(join(folder, 'release.json'), `${JSON.stringify(release.manifest.facts['manifest'], null, 2)}\n`);
}

async function linkTree(shop: Workshop, from: string, to: string): Promise<void> {
  const { files } = shop.host;
  await files.makeFolder(to);
  for (const name of (await files.list(from)) ?? []) {
    const [source, target] = [join(from, name), join(to, name)];
    const kind = (await files.facts(source))?.kind;
    if (kind === 'folder') await linkTree(shop, source, target);
    else if (kind === 'link') await files.symlink(await files.readLink(source), target);
    else await files.hardLink(source, target);
  }
}
