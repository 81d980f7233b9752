// Platform none: the user brings machines, names and load balancer; firstlight makes and destroys nothing and learns
// about the cluster from its API. In a lab `machine create` may have made machines for such a cluster on this host:
// these are observed as on the local platform.
import type { Host } from '../../host/host.ts';
import { localPlatform } from '../local/local-platform.ts';
import type { Platform } from '../platform.ts';

export function nonePlatform(host: Host): Platform {
  const local = localPlatform(host);
  return {
    name: 'none',
    clusterNames: local.clusterNames,
    findCluster: local.findCluster,
    listMachines: local.listMachines,
    observeMachines: local.observeMachines,
    observeProcesses: local.observeProcesses,
    filesOf: local.filesOf,
    machineMoments: local.machineMoments,
    balancerMoments: local.balancerMoments,
    ...(local.commandInNetwork === undefined ? {} : { commandInNetwork: local.commandInNetwork }),
    ...(local.commandInside === undefined ? {} : { commandInside: local.commandInside }),
  };
}
