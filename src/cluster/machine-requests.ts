// The machines of a cluster on this host, from its assets: who they are, at which address, with which Ignition config.
import type { FileSet } from '../assets/asset.ts';
import { bootstrapIgnition } from '../assets/bootstrap-ignition.ts';
import type { CreatedAssets } from '../assets/create-assets.ts';
import { inventory } from '../assets/inventory.ts';
import { metadata } from '../assets/metadata.ts';
import { masterIgnition, workerIgnition } from '../assets/pointer-ignition.ts';
import type { MachineRequest } from '../platform/machine.ts';
import type { InventoryMachine } from '../contract/inventory.ts';
import { platformNameOf } from '../contract/cluster-metadata.ts';

const configs = { bootstrap: bootstrapIgnition, master: masterIgnition, worker: workerIgnition } as const;

export function machineRequests(created: CreatedAssets): readonly MachineRequest[] {
  return created.value(inventory).machines.map((machine) => requestFor(created, machine));
}

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

/** The name by which the platform knows the cluster: unique on this host, also when two clusters share a name. */
export function platformName(created: CreatedAssets): string {
  return platformNameOf(created.value(metadata));
}
