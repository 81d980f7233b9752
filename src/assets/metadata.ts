// What `destroy` and every later command need to find the cluster again.
import { clusterMetadataFile, clusterMetadataSchema, clusterMetadataText } from '../contract/cluster-metadata.ts';
import { asset, textOf } from './asset.ts';
import { readAssetJson } from './checked-files.ts';
import { identity } from './identity.ts';
import { installConfig } from './install-config.ts';

const path = clusterMetadataFile;

export const metadata = asset({
  name: 'metadata',
  why: 'A later command must know which cluster this folder is about, also when nothing else is left of it.',
  neededUntil: 'the cluster is destroyed',
  inputs: { installConfig, identity },
  outputs: [path],
  generate: ({ installConfig: config, identity: { clusterId, suffix } }) => {
    const clusterName = config.metadata.name;
    const content = {
      clusterName,
      clusterID: clusterId,
      infraID: infraId(clusterName, suffix),
      platform: config.platform,
    };
    return [{ path, content: clusterMetadataText(content) }];
  },
  read: (files) => readAssetJson(path, textOf(files), clusterMetadataSchema),
  mismatch: ({ clusterID }, inputs) =>
    clusterID === inputs.identity.clusterId
      ? undefined
      : `${path} is about cluster ${clusterID}, but this folder belongs to ${inputs.identity.clusterId}`,
});

/** At most 27 characters, fit for the names of cloud objects: the name shortened to 21, a dash, five random ones. */
export function infraId(clusterName: string, suffix: string): string {
  const base = clusterName
    .replaceAll(/[^a-zA-Z0-9]+/g, '-')
    .slice(0, 21)
    .replace(/-+$/, '');
  return `${base}-${suffix}`;
}
