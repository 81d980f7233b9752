// Stage 1: copies the manifests of the workstation and of the user to the folder where later stages read them.
import { join } from 'node:path';
import { parsesAsObjects } from '../checks.ts';
import { renderStage } from '../render-stage.ts';

const identity = { number: 1, name: 'manifests' } as const;

export const manifests = renderStage({
  ...identity,
  why: 'Later stages add to the manifests; working on a copy keeps what the user gave us as it was.',
  originalCommand: 'cp -r /opt/openshift/manifests /assets/manifests',
  inputs: ['manifests'],
  outputs: ['*.yaml'],
  render: async ({ host, folders }) => {
    const folder = join(folders.assets, 'manifests');
    const names = (await host.files.list(folder)) ?? [];
    return Promise.all(names.map(async (path) => ({ path, content: await host.files.readText(join(folder, path)) })));
  },
  verify: [parsesAsObjects(identity)],
});
