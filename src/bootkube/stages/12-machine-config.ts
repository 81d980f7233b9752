// Stage 12: one rendered configuration per pool, in the folder layout that the config server reads. From then on
// masters can fetch their configuration. The same objects are written as manifests for the API.
import { join } from 'node:path';
import { exportedFile, exportFolder } from '../../machine-config/exported-objects.ts';
import { loadObjects } from '../../machine-config/load-objects.ts';
import { renderPool } from '../../machine-config/render.ts';
import { renderedFiles } from '../../machine-config/rendered-files.ts';
import { renderStage, stageFolder } from '../render-stage.ts';

const generatedBy = 'firstlight bootkube';

export const machineConfig = renderStage({
  number: 12,
  name: 'machine-config',
  why: 'A master is born knowing only whom to ask; this is what it will be told.',
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
});
