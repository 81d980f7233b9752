// Reads the manifests that earlier stages rendered, in the order in which they are applied to the API.
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import type { Manifest } from '../kubernetes/apply.ts';
import type { BootkubeContext } from './context.ts';
import { stageFolder } from './render-stage.ts';

interface Place {
  readonly number: number;
  readonly name: string;
  /** Inside the folder of the stage. */
  readonly subfolder?: string;
}

/** First the definitions of kinds, then the release, then the manifests of the workstation and the user. */
export const seedPlaces: readonly Place[] = [
  { number: 3, name: 'api' },
  { number: 6, name: 'version-operator' },
  { number: 1, name: 'manifests' },
];

export const addonPlaces: readonly Place[] = [{ number: 6, name: 'version-operator', subfolder: 'addons' }];

export async function renderedManifests(
  context: BootkubeContext,
  places: readonly Place[],
): Promise<readonly Manifest[]> {
  const lists = await Promise.all(places.map((place) => manifestsIn(context, place)));
  return lists.flat();
}

async function manifestsIn({ host, folders }: BootkubeContext, place: Place): Promise<readonly Manifest[]> {
  const folder = join(folders.render, stageFolder(place), place.subfolder ?? '');
  const names = ((await host.files.list(folder)) ?? []).filter((name) => /\.(ya?ml|json)$/.test(name));
  const lists = names.map(async (name) => {
    const documents = parseAllDocuments(await host.files.readText(join(folder, name)), { version: '1.1' });
    if (!Array.isArray(documents)) return [];
    return documents
      .map((document, index) => ({
        source: `${stageFolder(place)}/${name}#${index + 1}`,
        value: document.toJS() as unknown,
      }))
      .filter(({ value }) => value !== null);
  });
  return (await Promise.all(lists)).flat();
}
