// The assets that each `create …` command makes, with everything they are made from. A new asset is made when it is
// listed here or is an input of a listed one.
import type { AnyAsset } from './asset.ts';
import { bootstrapIgnition } from './bootstrap-ignition.ts';
import { installConfig, installConfigSchemaAsset } from './install-config.ts';
import { adminKubeconfig, breakGlassKubeconfig, internalKubeconfig } from './kubeconfigs.ts';
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
    internalKubeconfig,
    metadata,
  ],
} as const satisfies Record<string, readonly AnyAsset[]>;

export type TargetName = keyof typeof targets;
