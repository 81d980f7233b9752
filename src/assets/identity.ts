// The identity of the cluster: two random values that no later edit of the install-config changes.
import { z } from 'zod';
import { ownFolder } from '../contract/asset-folder.ts';
import { randomText, randomUuid } from '../host/random.ts';
import { asset, textOf } from './asset.ts';
import { readAssetJson } from './checked-files.ts';

const path = `${ownFolder}/identity.json`;
const schema = z.strictObject({ clusterId: z.uuid(), suffix: z.string().regex(/^[a-z0-9]{5}$/) });

export const identity = asset({
  name: 'identity',
  why: 'Two clusters may share every name; this tells them apart, and it must survive every edit.',
  neededUntil: 'the cluster is destroyed',
  inputs: {},
  outputs: [path],
  generate: (_inputs, { random }) => {
    const suffix = randomText(random, 'abcdefghijklmnopqrstuvwxyz0123456789', 5);
    return [{ path, content: `${JSON.stringify({ clusterId: randomUuid(random), suffix }, null, 2)}\n` }];
  },
  read: (files) => readAssetJson(path, textOf(files), schema),
});
