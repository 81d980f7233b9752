// What `create cluster` is going to make, as plain facts from the assets: which machines, at which addresses, with
// which Ignition configs, on which platform.
import type { FileSet } from '../assets/asset.ts';
import { bootstrapIgnition } from '../assets/bootstrap-ignition.ts';
import { clusterNames } from '../assets/cluster-names.ts';
import type { CreatedAssets } from '../assets/create-assets.ts';
import { installConfig } from '../assets/install-config.ts';
import { inventory } from '../assets/inventory.ts';
import { metadata } from '../assets/metadata.ts';
import { masterIgnition, workerIgnition } from '../assets/pointer-ignition.ts';
import { platformNameOf } from '../contract/cluster-metadata.ts';
import type { InventoryMachine } from '../contract/inventory.ts';
import type { MachineRequest } from '../platform/machine.ts';
import type { Platform } from '../platform/platform.ts';
import type { ClusterHandle } from './find-cluster.ts';

export interface ClusterPlan extends ClusterHandle {
  readonly clusterName: string;
  readonly domain: string;
  readonly machineNetwork: string | undefined;
  readonly machines: readonly MachineRequest[];
}

export function planCluster(created: CreatedAssets, platform: Platform): ClusterPlan {
  const { clusterName, domain } = created.value(clusterNames);
  return {
    platform,
    name: platformNameOf(created.value(metadata)),
    clusterName,
    domain,
    machineNetwork: created.value(installConfig).networking.machineNetwork[0]?.cidr,
    machines: created.value(inventory).machines.map((machine) => requestFor(created, machine)),
  };
}

const configs = { bootstrap: bootstrapIgnition, master: masterIgnition, worker: workerIgnition } as const;

function requestFor(created: CreatedAssets, { name, role, addresses }: InventoryMachine): MachineRequest {
  const [address] = addresses;
  const ignition = onlyFile(created.files.get(configs[role].name));
  return { name, role, ...(address === undefined ? {} : { address }), ignition };
}

function onlyFile(files: FileSet | undefined): Uint8Array {
  const [content] = [...(files?.values() ?? [])];
  if (content === undefined) throw new Error('an Ignition config without a file');
  return content;
}

/** The machines that become nodes of the cluster; the bootstrap machine does not. */
export function plannedNodes({ machines }: ClusterPlan): readonly string[] {
  return machines.filter(({ role }) => role !== 'bootstrap').map(({ name }) => name);
}
