// Stage 1: copies the manifests of the workstation and of the user to the folder where later stages read them. The
// ControllerConfig gets the images of the release: the workstation does not know them, and the bootstrap machine, the
// config servers and the pool controller must all render the same.
import { join } from 'node:path';
import { isMap, parseAllDocuments } from 'yaml';
import { releaseImageVariable } from '../../contract/bootkube-environment.ts';
import { bootkubeEnvironmentFile, releaseImageFile } from '../../contract/machine-paths.ts';
import { parsesAsObjects } from '../checks.ts';
import { type BootkubeContext, machineFolders, releaseImage } from '../context.ts';
import { renderStage } from '../render-stage.ts';

const identity = { number: 1, name: 'manifests' } as const;

export const manifests = renderStage({
  ...identity,
  why: 'Later stages add to the manifests; working on a copy keeps what the user gave us as it was.',
  inputs: ['manifests', machineFolders.releaseFile, releaseImageFile, bootkubeEnvironmentFile],
  outputs: ['*.yaml'],
  render: async (context) => {
    const { host, folders } = context;
    const folder = join(folders.assets, 'manifests');
    const names = (await host.files.list(folder)) ?? [];
    const images = controllerImages(context);
    return Promise.all(
      names.map(async (path) => ({ path, content: withImages(await host.files.readText(join(folder, path)), images) })),
    );
  },
  verify: [parsesAsObjects(identity)],
});

/** Values by their place in a ControllerConfig. */
type Values = readonly (readonly [place: readonly string[], value: string])[];

function controllerImages(context: BootkubeContext): Values {
  const reference = context.images[releaseImageVariable];
  if (reference === undefined) return [];
  return [
    [['spec', 'releaseImage'], reference],
    [['spec', 'images', 'machineConfigOperatorImage'], releaseImage(context, 'MACHINE_CONFIG_OPERATOR_IMAGE')],
  ];
}

/** What a person has chosen stays. */
function withImages(text: string, images: Values): string {
  if (images.length === 0 || !/^kind: ControllerConfig$/m.test(text)) return text;
  const documents = parseAllDocuments(text);
  if (!Array.isArray(documents)) return text;
  for (const document of documents) {
    if (!isMap(document.contents) || document.get('kind') !== 'ControllerConfig') continue;
    for (const [place, value] of images) if (!document.hasIn(place)) document.setIn(place, value);
  }
  return documents.map((document) => document.toString({ directives: false, lineWidth: 0 })).join('---\n');
}
