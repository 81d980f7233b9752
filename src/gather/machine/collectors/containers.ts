// The logs of containers, also of those that have ended. Only of the cluster's own pods: what a user's pods print
// belongs to the user.
import { podLogFolder } from '../../../platform/container-logs.ts';
import type { MachineCollector } from '../machine-collector.ts';

export const containersCollector: MachineCollector = {
  name: 'containers',
  takes:
    'logs of the containers of the cluster’s own namespaces, also of earlier starts, and which containers there are',
  parts: [
    {
      kind: 'files',
      patterns: ['kube-system', 'ipb-system', 'tectonic-system'].map((space) => `${podLogFolder}/${space}_*/*/*.log`),
      place: containerLogPlace,
    },
    { kind: 'command', file: 'containers/containers.txt', command: 'crictl ps --all' },
    { kind: 'command', file: 'containers/pods.txt', command: 'crictl pods' },
  ],
};

/** `/var/log/pods/NAMESPACE_POD_UID/CONTAINER/0.log` → `containers/CONTAINER-UID8.0.log`. */
export function containerLogPlace(path: string): string {
  const [pod = '', container = '', file = ''] = path.slice(podLogFolder.length + 1).split('/');
  const uid = pod.slice(pod.lastIndexOf('_') + 1).replaceAll('-', '');
  return `containers/${container}-${uid.slice(0, 8)}.${file}`;
}
