// Every control of the benchmark, in its order, and those of our own. No number is left out: a control that cannot be
// looked at, or that does not concern this cluster, says so itself. To add a control: a value in the file of its area.
import type { AuditArea, AuditControl } from './control.ts';
import { accessControls } from './controls/access.ts';
import { apiServerControls } from './controls/api-server.ts';
import { assetFolderControls } from './controls/asset-folder.ts';
import { configurationControls } from './controls/configuration.ts';
import { controlPlaneFileControls } from './controls/control-plane-files.ts';
import { etcdControls } from './controls/etcd.ts';
import { generalPolicyControls } from './controls/general-policies.ts';
import { kubeletControls } from './controls/kubelet.ts';
import { managerControls } from './controls/managers.ts';
import { nodeFileControls } from './controls/node-files.ts';
import { podSecurityControls } from './controls/pod-security.ts';

export const auditAreas: readonly AuditArea[] = [
  {
    name: 'control-plane',
    title: '1 Control-plane machines',
    controls: [...controlPlaneFileControls, ...apiServerControls, ...managerControls],
  },
  { name: 'etcd', title: '2 etcd', controls: etcdControls },
  { name: 'configuration', title: '3 Control-plane configuration', controls: configurationControls },
  { name: 'nodes', title: '4 Nodes', controls: [...nodeFileControls, ...kubeletControls] },
  {
    name: 'policies',
    title: '5 Policies',
    controls: [...accessControls, ...podSecurityControls, ...generalPolicyControls],
  },
  { name: 'folder', title: 'F Asset folder', controls: assetFolderControls },
];

export const auditControls: readonly AuditControl[] = auditAreas.flatMap(({ controls }) => controls);
