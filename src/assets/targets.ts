// What each `create …` makes: a command is a list of nouns. A new asset becomes real by a line here, or by being the
// input of one that is here.
import type { AnyAsset } from './asset.ts';
import { bootstrapIgnition } from './bootstrap-ignition.ts';
import { installConfig, installConfigSchemaAsset } from './install-config.ts';
import { adminKubeconfig, breakGlassKubeconfig } from './kubeconfigs.ts';
import { manifestFolder } from './manifests/manifest-folder.ts';
import { metadata } from './metadata.ts';
import { masterIgnition, workerIgnition } from './pointer-ignition.ts';

export const targets = {
  'install-config': [installConfig, installConfigSchemaAsset],
  manifests: [manifestFolder],
  'ignition-configs': [
    bootstrapIgnition,
    masterIgnition,
    workerIgnition,
    adminKubeconfig,
    breakGlassKubeconfig,
    metadata,
  ],
} as const satisfies Record<string, readonly AnyAsset[]>;

export type TargetName = keyof typeof targets;
