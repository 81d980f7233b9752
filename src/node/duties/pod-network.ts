// Writes the pod network of this node, from the pod ranges that the controller manager gave it. The kubelet reports
// Ready a moment after the file appears. A node that joins again gets other ranges, and the file is written again.
import { waitingFor } from '../../contract/missing.ts';
import { writeIfChanged } from '../../host/write-if-changed.ts';
import { podRangesOf } from '../../kubernetes/node-object.ts';
import { cniNetworkFile, cniNetworkText } from '../../machine-software/cni-network.ts';
import { acted, type Duty, settled, waiting } from '../duty.ts';

export const podNetworkDuty: Duty = {
  name: 'pod-network',
  roles: ['master', 'worker'],
  needs: ['cluster-view'],
  run: async ({ host, node, cluster }) => {
    const self = cluster.nodes?.find(({ metadata }) => metadata.name === node.name);
    if (self === undefined) return waiting(waitingFor(`the kubelet of ${node.name}`, 'to register its node'));
    const podRanges = podRangesOf(self);
    if (podRanges.length === 0)
      return waiting(waitingFor('the controller manager', `to give ${node.name} a pod range`));
    const text = cniNetworkText({ podRanges });
    const isWritten = await writeIfChanged(host.files, { path: cniNetworkFile, text, mode: 0o600 });
    return isWritten ? acted(`pods of this node are in ${podRanges.join(' and ')}`) : settled(podRanges.join(', '));
  },
};
