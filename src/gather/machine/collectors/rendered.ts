// What the stages of the bootstrap rendered, and the pods that the kubelet runs by itself. Keys, kubeconfigs and
// Secrets lie between them: their names are refused here, and their content by the filter of the bundle.
import { bootstrapFolder, staticPodFolder } from '../../../contract/machine-paths.ts';
import type { MachineCollector } from '../machine-collector.ts';

const rendered = `${bootstrapFolder}/render`;

/** Below the folder, to a depth that no stage exceeds. */
const depths = ['*', '*/*', '*/*/*', '*/*/*/*'];

export const renderedCollector: MachineCollector = {
  name: 'rendered',
  takes: 'the manifests that the stages of the bootstrap rendered, without keys, kubeconfigs and Secrets; static pods',
  parts: [
    {
      kind: 'files',
      patterns: depths.flatMap((depth) => ['yaml', 'yml', 'json'].map((end) => `${rendered}/${depth}.${end}`)),
      place: (path) => `rendered-assets${path.slice(rendered.length)}`,
    },
    {
      kind: 'files',
      patterns: [`${staticPodFolder}/*.yaml`],
      place: (path) => `static-pods${path.slice(staticPodFolder.length)}`,
    },
  ],
};
