// Platform none: the user brings machines, names and load balancer, and what firstlight knows about them it knows from
// the API. It makes and destroys nothing. Only machines that `machine create` made on this host for such a cluster, in a
// lab, are seen here too.
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
    ...(local.commandInside === undefined ? {} : { commandInside: local.commandInside }),
  };
}
