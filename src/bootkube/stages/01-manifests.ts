// Stage 1: copies the manifests of the workstation and of the user to the folder where later stages read them. The
// ControllerConfig gets what only the release knows (its images, its Kubernetes): the workstation does not know it, and
// the bootstrap machine, the config servers and the pool controller must all render the same.
import { join } from 'node:path';
import { type Document, isMap, parseAllDocuments } from 'yaml';
import { ownImageVariable, releaseImageVariable } from '../../contract/bootkube-environment.ts';
import { torcxMappings, torcxMappingsKeys } from '../../contract/cluster-objects.ts';
import { bootkubeEnvironmentFile, releaseImageFile } from '../../contract/machine-paths.ts';
import { environmentText } from '../../machine-software/environment-file.ts';
import { imageTagVariable } from '../../torcx/env-file.ts';
import { defaultRuntimeMappings, imageTagOf } from '../../torcx/kubernetes-version.ts';
import { parsesAsObjects } from '../checks.ts';
import { type BootkubeContext, machineFolders, releaseImage } from '../context.ts';
import { renderStage } from '../render-stage.ts';

const identity = { number: 1, name: 'manifests' } as const;

export const manifests = renderStage({
  ...identity,
  why: 'Copies the manifests of the asset folder. Later stages add to the copy, and what you gave stays as it was.',
  inputs: ['manifests', machineFolders.releaseFile, releaseImageFile, bootkubeEnvironmentFile],
  outputs: ['*.yaml'],
  render: async (context) => {
    const { host, folders } = context;
    const folder = join(folders.assets, 'manifests');
    const names = (await host.files.list(folder)) ?? [];
    const facts = releaseFacts(context);
    return Promise.all(
      names.map(async (path) => ({ path, content: withFacts(await host.files.readText(join(folder, path)), facts) })),
    );
  },
  verify: [parsesAsObjects(identity)],
});

/** Values by their place in an object. */
type Values = readonly (readonly [place: readonly string[], value: string])[];

/** Which objects get which values. */
interface ObjectFacts {
  readonly isMeant: (document: Document.Parsed) => boolean;
  readonly values: Values;
}

function releaseFacts(context: BootkubeContext): readonly ObjectFacts[] {
  const isControllerConfig = (document: Document.Parsed): boolean => document.get('kind') === 'ControllerConfig';
  return [
    { isMeant: isControllerConfig, values: controllerImages(context) },
    ...torcxFacts(context, isControllerConfig),
  ];
}

function controllerImages(context: BootkubeContext): Values {
  const reference = context.images[releaseImageVariable];
  if (reference === undefined) return [];
  return [
    [['spec', 'releaseImage'], reference],
    [['spec', 'images', 'machineConfigOperatorImage'], releaseImage(context, ownImageVariable)],
  ];
}

/** The Kubernetes of the release, for nodes that are prepared by torcx: in their files and in the ConfigMap. */
function torcxFacts(
  { release: { kubernetes } }: BootkubeContext,
  isControllerConfig: ObjectFacts['isMeant'],
): readonly ObjectFacts[] {
  if (kubernetes === undefined) return [];
  const tag = imageTagOf(`v${kubernetes.replace(/^v/, '')}`);
  const mappings = defaultRuntimeMappings(kubernetes);
  return [
    {
      isMeant: (document) => isControllerConfig(document) && document.hasIn(['spec', 'nodeBootstrap', 'torcx']),
      values: [
        [['spec', 'kubeletEnvironment', imageTagVariable], tag],
        [['spec', 'nodeBootstrap', 'torcx', 'runtimeMappings'], mappings],
      ],
    },
    {
      isMeant: (document) =>
        document.get('kind') === torcxMappings.kind && document.getIn(['metadata', 'name']) === torcxMappings.name,
      values: [
        [['data', torcxMappingsKeys.mappings], mappings],
        [['data', torcxMappingsKeys.kubeletEnvironment], environmentText({ [imageTagVariable]: tag })],
      ],
    },
  ];
}

/** What a person has chosen stays. A file in which nothing is added stays as it is, byte for byte. */
function withFacts(text: string, facts: readonly ObjectFacts[]): string {
  if (!/^kind: ControllerConfig$/m.test(text) && !text.includes(torcxMappings.name)) return text;
  const documents = parseAllDocuments(text);
  if (!Array.isArray(documents)) return text;
  let isChanged = false;
  for (const document of documents) {
    if (!isMap(document.contents)) continue;
    const missing = facts
      .filter(({ isMeant }) => isMeant(document))
      .flatMap(({ values }) => values)
      .filter(([place]) => !document.hasIn(place));
    for (const [place, value] of missing) document.setIn(place, value);
    isChanged ||= missing.length > 0;
  }
  return isChanged
    ? documents.map((document) => document.toString({ directives: false, lineWidth: 0 })).join('---\n')
    : text;
}
