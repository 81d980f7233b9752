// The local platform: real systemd machines on this host, each in its own network namespace, with one load balancer and
// one name server per cluster. This file only connects the functions of this folder to the seam.
import type { Host } from '../../host/host.ts';
import type { PlacedCluster, Platform } from '../platform.ts';
import {
  createMachines,
  destroyCluster,
  destroyMachines,
  rebootMachines,
  startMachines,
  stopMachines,
} from './change-machines.ts';
import { commandInNetwork, commandInside, logCommand } from './command-lines.ts';
import { hostPortsOf, type LocalCluster, listClusters, networkOf, readLocalCluster } from './local-cluster.ts';
import { machineFiles } from './machine-files.ts';
import { machineDiskBytes, readMachines } from './machine-folder.ts';
import { loadBalancerMoments, machineMoments } from './machine-moments.ts';
import { findProcesses, hasProcesses, observeMachines } from './observe-machines.ts';
import { inspectHost, prepareHost } from './prepare-host.ts';
import { isServiceRunning } from './switch-services.ts';

export function localPlatform(host: Host): Platform {
  return {
    name: 'local',
    clusterNames: () => listClusters(host),
    findCluster: async (cluster) => {
      const found = await readLocalCluster(host, cluster);
      return found && placed(found);
    },
    listMachines: (cluster) => readMachines(host, cluster),
    observeMachines: (cluster) => observeMachines(host, cluster),
    observeProcesses: async (cluster) => {
      const running = new Set<string>();
      for (const { name } of await readMachines(host, cluster)) {
        if (hasProcesses(await findProcesses(host, cluster, name))) running.add(name);
      }
      return { machines: running, isBalancerRunning: await isServiceRunning(host, cluster, 'load-balancer') };
    },
    filesOf: ({ cluster, machine }) => machineFiles(host.files, cluster, machine),
    machineMoments: ({ cluster, machine }) => machineMoments(host, cluster, machine),
    balancerMoments: (cluster) => loadBalancerMoments(host, cluster),
    inspectHost: (machines) => inspectHost(host, machines),
    prepareHost: async (context, machines) => {
      await prepareHost(host, context, machines);
    },
    createMachines: async (context, request) => placed(await createMachines({ ...context, host }, request)),
    startMachines: (context, cluster, names) => startMachines({ ...context, host }, cluster, names),
    stopMachines: (context, cluster, names) => stopMachines({ ...context, host }, cluster, names),
    rebootMachines: (context, cluster, names) => rebootMachines({ ...context, host }, cluster, names),
    destroyMachines: (context, cluster, names) => destroyMachines({ ...context, host }, cluster, names),
    destroyCluster: (context, cluster) => destroyCluster({ ...context, host }, cluster),
    diskBytes: ({ cluster, machine }) => machineDiskBytes(host, cluster, machine),
    commandInside: (machine, command) => commandInside(host, machine, command),
    commandInNetwork,
    logCommand: (machine, request) => logCommand(host, machine, request),
  };
}

function placed(cluster: LocalCluster): PlacedCluster {
  const ports = hostPortsOf(cluster);
  return {
    domain: cluster.domain,
    machineNetwork: cluster.machineNetwork,
    balancerAddress: networkOf(cluster).switchAddress,
    // The network of the cluster is not the host's: the API is reached by a port of the loopback.
    apiEndpoint: { address: '127.0.0.1', port: cluster.hostPort },
    registryEndpoint: { address: '127.0.0.1', port: ports['registry-push'] },
    ingressEndpoint: { address: '127.0.0.1', http: ports['ingress-http'], https: ports['ingress-https'] },
  };
}
