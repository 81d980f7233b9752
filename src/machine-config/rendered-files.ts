// Rendered pools as files, in the layout that the config server reads: a pool's file names its rendered configuration,
// which is beside it. JSON, which every YAML reader reads, because it is written and read hundreds of times faster.
import type { MachineConfigPool } from './machine-config.ts';
import type { RenderedPool } from './render.ts';

export interface RenderedPoolFile {
  /** Relative to the server's base folder. */
  readonly path: string;
  readonly text: string;
}

export function renderedFiles(pool: MachineConfigPool, rendered: RenderedPool): readonly RenderedPoolFile[] {
  const configuration = configurationOf(rendered);
  return [
    { path: `machine-configs/${rendered.name}.yaml`, text: jsonText(rendered.machineConfig) },
    {
      path: `machine-pools/${rendered.pool}.yaml`,
      text: jsonText({ ...pool, spec: { ...pool.spec, configuration }, status: { configuration } }),
    },
  ];
}

/** How a pool names a rendered config and what it is made of. */
export function configurationOf({ name, sources, machineConfig: { apiVersion, kind } }: RenderedPool) {
  return { name, source: sources.map(({ metadata }) => ({ apiVersion, kind, name: metadata.name })) };
}

function jsonText(value: object): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
