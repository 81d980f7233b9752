// Stage 12: one rendered configuration per pool, in the folder layout that the config server reads. From then on
// masters can fetch their configuration. The same objects are written as manifests for the API.
import { join } from 'node:path';
import { exportedFile, exportFolder, exportName } from '../../machine-config/exported-objects.ts';
import { loadObjects } from '../../machine-config/load-objects.ts';
import { renderPool } from '../../machine-config/render.ts';
import { renderedFiles } from '../../machine-config/rendered-files.ts';
import { readRendered } from '../checks.ts';
import { renderStage, type StageCheck, stageFolder } from '../render-stage.ts';

const generatedBy = 'firstlight bootkube';

const identity = { number: 12, name: 'machine-config' } as const;

/** A machine that is told a configuration which does not exist asks for ever. */
const poolsHaveConfigs: StageCheck = {
  name: 'every pool names a rendered configuration that is there, and both are exported',
  run: async (context, outputs) => {
    const pools = Object.keys(outputs).filter((path) => path.startsWith('machine-pools/'));
    for (const role of ['master', 'worker'])
      if (!pools.includes(`machine-pools/${role}.yaml`)) return `the pool ${role} is missing`;
    const exported = await readRendered(context, identity, `${exportFolder}/${exportName}`);
    const { items } = JSON.parse(exported) as { readonly items: readonly ExportedItem[] };
    const names = new Set(items.map(({ kind, metadata }) => `${kind} ${metadata.name}`));
    for (const path of pools) {
      const pool = JSON.parse(await readRendered(context, identity, path)) as RenderedPoolObject;
      const config = pool.spec.configuration?.name ?? 'no configuration';
      if (outputs[`machine-configs/${config}.yaml`] === undefined) return `${path}: ${config} was not rendered`;
      if (!names.has(`MachineConfig ${config}`)) return `${path}: ${config} is not exported`;
    }
    return undefined;
  },
};

interface ExportedItem {
  readonly kind: string;
  readonly metadata: { readonly name: string };
}

interface RenderedPoolObject {
  readonly spec: { readonly configuration?: { readonly name?: string } };
}

export const machineConfig = renderStage({
  ...identity,
  why: 'Renders one configuration per pool. A machine boots with the address of the config server and little more; this is what it gets from there.',
  variable: 'MACHINE_CONFIG_OPERATOR_IMAGE',
  inputs: ['render/01-manifests'],
  outputs: ['machine-configs/*', 'machine-pools/*', `${exportFolder}/*`],
  render: async ({ host, folders }) => {
    const folder = join(folders.render, stageFolder({ number: 1, name: 'manifests' }));
    const objects = await loadObjects(host, { folders: [folder], generatedBy });
    const { osImageURL, machines } = objects;
    const options = { osImageURL, machines, generatedBy };
    const pools = objects.pools.map((pool) => ({ pool, rendered: renderPool(pool, objects.machineConfigs, options) }));
    const exported = exportedFile({
      generated: objects.builtIns,
      rendered: pools.map(({ rendered }) => rendered),
      builtInPools: objects.pools.filter((pool) => !objects.givenPools.includes(pool)),
    });
    const served = pools.flatMap(({ pool, rendered }) => renderedFiles(pool, rendered));
    return [...served, exported].map(({ path, text }) => ({ path, content: text }));
  },
  verify: [poolsHaveConfigs],
});
