// What the bootstrap generated and rendered, for the API: the pool controller then finds what it would write itself,
// under the names that the first machines were given, and changes nothing.
import { renderedFinalizer } from '../contract/machine-config-pool.ts';
import type { MachineConfig, MachineConfigPool } from './machine-config.ts';
import { machineConfigManifest } from './manifests.ts';
import type { RenderedPool } from './render.ts';
import { configurationOf, type RenderedPoolFile } from './rendered-files.ts';

export interface ExportedObjects {
  /** The MachineConfigs that were generated; those of the user are manifests already. */
  readonly generated: readonly MachineConfig[];
  readonly rendered: readonly RenderedPool[];
  /** The pools that nobody wrote. */
  readonly builtInPools: readonly MachineConfigPool[];
}

/** One manifest with all of them. */
export function exportedFile({ generated, rendered, builtInPools }: ExportedObjects): RenderedPoolFile {
  const items = [
    ...generated.map((config) => machineConfigManifest(config)),
    ...rendered.map(({ machineConfig: { metadata, ...rest } }) => ({
      ...rest,
      metadata: { ...metadata, finalizers: [renderedFinalizer] },
    })),
    ...builtInPools.map(({ apiVersion, kind, metadata: { name, labels }, spec }) => {
      const { machineConfigSelector, nodeSelector } = spec;
      const own = rendered.find(({ pool }) => pool === name);
      const configuration = own === undefined ? {} : { configuration: configurationOf(own) };
      return {
        apiVersion,
        kind,
        metadata: { name, labels },
        spec: { machineConfigSelector, nodeSelector, ...configuration },
      };
    }),
  ];
  return {
    path: `${exportFolder}/${exportName}`,
    text: JSON.stringify({ apiVersion: 'v1', kind: 'List', items }),
  };
}

export const exportFolder = 'cluster';
export const exportName = 'machine-configuration.json';
