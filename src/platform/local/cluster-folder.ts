// Where the files of a local cluster are on this host, and the names of its parts. Every name outside of the folder
// (namespaces, control groups, nspawn's machine name) contains the cluster's name, so that clusters do not collide.
// A dot separates the two because no name contains one.
import { join } from 'node:path';
import { digestOf } from '../../workflow/digest.ts';

export const stateFolder = '/var/lib/firstlight/clusters';

export function clusterFolder(cluster: string): string {
  return join(stateFolder, cluster);
}

/** What is fixed when the first machine of a cluster is made. */
export function clusterFile(cluster: string): string {
  return join(clusterFolder(cluster), 'cluster.json');
}

export function machinesFolder(cluster: string): string {
  return join(clusterFolder(cluster), 'machines');
}

/** Configuration, sockets and logs of the load balancer and the name server. */
export function switchFolder(cluster: string): string {
  return join(clusterFolder(cluster), 'switch');
}

export interface MachinePaths {
  readonly folder: string;
  readonly machineFile: string;
  /** The Ignition config; removed by the first start after the first boot. */
  readonly ignition: string;
  /** What the machine changed of its root. */
  readonly upper: string;
  readonly work: string;
  /** Mount point of the root; the mount itself is seen only by the machine's own processes. */
  readonly root: string;
  /** Mount point of the images that all machines share; the mount is seen only by the machine's own processes. */
  readonly layers: string;
  /** Folders that must not lie on an overlay. */
  readonly containerd: string;
  readonly kubelet: string;
  readonly etcd: string;
  readonly startScript: string;
  /** Commands for `ip -batch` that give the namespace its addresses. */
  readonly networkBatch: string;
  readonly consoleLog: string;
  /** What nspawn shows the machine in the place of the host's. */
  readonly osRelease: string;
  /** Which process is the start script, and which is nspawn (own-process.ts). */
  readonly supervisorRecord: string;
  readonly nspawnRecord: string;
}

export function machinePaths(cluster: string, machine: string): MachinePaths {
  return pathsIn(join(machinesFolder(cluster), machine));
}

/** The same layout in a folder that is still being filled. */
export function pathsIn(folder: string): MachinePaths {
  return {
    folder,
    machineFile: join(folder, 'machine.json'),
    ignition: join(folder, 'config.ign'),
    upper: join(folder, 'upper'),
    work: join(folder, 'work'),
    root: join(folder, 'root'),
    layers: join(folder, 'layers'),
    containerd: join(folder, 'containerd'),
    kubelet: join(folder, 'kubelet'),
    etcd: join(folder, 'etcd'),
    startScript: join(folder, 'start.sh'),
    networkBatch: join(folder, 'network.batch'),
    consoleLog: join(folder, 'console.log'),
    osRelease: join(folder, 'os-release'),
    supervisorRecord: join(folder, 'supervisor.process'),
    nspawnRecord: join(folder, 'nspawn.process'),
  };
}

export function switchNamespace(cluster: string): string {
  return `firstlight.${cluster}`;
}

export function machineNamespace(cluster: string, machine: string): string {
  return `firstlight.${cluster}.${machine}`;
}

export function namespacePath(namespace: string): string {
  return `/run/netns/${namespace}`;
}

/** Below every cgroup mount. */
export function clusterGroup(cluster: string): string {
  return `firstlight/${cluster}`;
}

export function machineGroup(cluster: string, machine: string): string {
  return `${clusterGroup(cluster)}/${machine}`;
}

/** Unique on this host, and within the 64 characters that nspawn allows. */
export function nspawnName(cluster: string, machine: string): string {
  const name = `${machine}.${cluster}`;
  return name.length <= 64 ? name : `${machine.slice(0, 40)}.${digestOf(name).slice(0, 16)}`;
}

export function unitName(cluster: string, machine: string): string {
  return `firstlight-${cluster}.${machine}.service`;
}
