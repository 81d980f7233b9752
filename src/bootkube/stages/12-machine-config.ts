// Stage 12: one rendered configuration per pool, in the folder layout that the config server reads. From then on
// masters can fetch their configuration.
import { join } from 'node:path';
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
  originalCommand: 'podman run ${MACHINE_CONFIG_OPERATOR_IMAGE} bootstrap … --asset-output-dir=/assets/mco-bootstrap',
  inputs: ['render/01-manifests'],
  outputs: ['machine-configs/*', 'machine-pools/*'],
  render: async ({ host, folders }) => {
    const folder = join(folders.render, stageFolder({ number: 1, name: 'manifests' }));
    const objects = await loadObjects(host, { folders: [folder], generatedBy });
    return objects.pools.flatMap((pool) => {
      const { osImageURL, machines } = objects;
      const rendered = renderPool(pool, objects.machineConfigs, { osImageURL, machines, generatedBy });
      return renderedFiles(pool, rendered).map(({ path, text }) => ({ path, content: text }));
    });
  },
});
