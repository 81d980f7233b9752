// Reads the manifests that earlier stages rendered, in the order in which they are applied to the API.
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { jsonIfValid } from '../host/json-if-valid.ts';
import type { Manifest } from '../kubernetes/apply.ts';
import { exportFolder } from '../machine-config/exported-objects.ts';
import type { BootkubeContext } from './context.ts';
import { stageFolder } from './render-stage.ts';

export interface RenderedPlace {
  readonly number: number;
  readonly name: string;
  /** Inside the folder of the stage. */
  readonly subfolder?: string;
}

/** In the folder of stage 5. */
export const configurationFolder = 'cluster';

/** In the folder of stage 6: what tectonic.service applies, and what the version operator in the cluster applies. */
export const addonFolder = 'addons';
export const payloadFolder = 'payload';

/** First the definitions of kinds, then the release and its components, then the workstation and the user. */
export const seedPlaces: readonly RenderedPlace[] = [
  { number: 3, name: 'api' },
  { number: 6, name: 'version-operator' },
  { number: 11, name: 'ingress' },
  { number: 1, name: 'manifests' },
];

/** After the handoff. */
export const addonPlaces: readonly RenderedPlace[] = [{ number: 6, name: 'version-operator', subfolder: addonFolder }];

/**
 * How the cluster was meant to be, and what machines were given. Nobody waits for either: the pool controller begins
 * after the bootstrap, and config servers render the same while it is not there.
 */
export const configurationPlaces: readonly RenderedPlace[] = [
  { number: 5, name: 'config', subfolder: configurationFolder },
  { number: 12, name: 'machine-config', subfolder: exportFolder },
];

export async function renderedManifests(
  context: BootkubeContext,
  places: readonly RenderedPlace[],
): Promise<readonly Manifest[]> {
  const lists = await Promise.all(places.map((place) => manifestsIn(context, place)));
  return lists.flat();
}

async function manifestsIn({ host, folders }: BootkubeContext, place: RenderedPlace): Promise<readonly Manifest[]> {
  const folder = join(folders.render, stageFolder(place), place.subfolder ?? '');
  const names = ((await host.files.list(folder)) ?? []).filter((name) => /\.(ya?ml|json)$/.test(name));
  const lists = names.map(async (name) => {
    const text = await host.files.readText(join(folder, name));
    // The reader of YAML also reads JSON, and takes a second for the objects that hold a machine's configuration.
    const source = `${stageFolder(place)}/${name}`;
    const json = name.endsWith('.json') ? jsonIfValid(text) : undefined;
    if (json !== undefined) return itemsOf(json).map((value, index) => ({ source: `${source}#${index + 1}`, value }));
    const documents = parseAllDocuments(text, { version: '1.1' });
    if (!Array.isArray(documents)) return [];
    return documents
      .map((document, index) => ({ source: `${source}#${index + 1}`, value: document.toJS() as unknown }))
      .filter(({ value }) => value !== null);
  });
  return (await Promise.all(lists)).flat();
}

/** A List, as `kubectl get -o json` writes it, is its items. */
function itemsOf(value: unknown): readonly unknown[] {
  const { kind, items } = value as { readonly kind?: unknown; readonly items?: unknown };
  return kind === 'List' && Array.isArray(items) ? items : [value];
}
