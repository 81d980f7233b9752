// A manifest is an asset of one YAML file in manifests/. A user may edit it, add others beside it, or remove it:
// a removed manifest stays removed.
import { toYamlDocuments } from '../../kubernetes/yaml.ts';
import { type Asset, asset, type InputAssets, type InputValues, textOf } from '../asset.ts';

export interface ManifestDeclaration<Inputs extends InputAssets> {
  readonly name: string;
  readonly why: string;
  readonly inputs: Inputs;
  readonly objects: (inputs: InputValues<Inputs>) => readonly object[];
}

export function manifestAsset<Inputs extends InputAssets>(
  declaration: ManifestDeclaration<Inputs>,
): Asset<string, Inputs> {
  const path = `manifests/${declaration.name}.yaml`;
  return asset({
    name: declaration.name,
    why: declaration.why,
    neededUntil: 'it has been applied to the cluster; after that the cluster has the object',
    inputs: declaration.inputs,
    outputs: [path],
    mayBeRemoved: true,
    generate: (inputs) => {
      const objects = declaration.objects(inputs);
      return objects.length === 0 ? [] : [{ path, content: toYamlDocuments(objects) }];
    },
    read: (files) => textOf(files),
  });
}
