// The machines that may join: the user's hosts, or the machines that firstlight makes on the local platform. A closed
// inventory means that a certificate request is signed only for a name and addresses that are in it.
import {
  type Inventory,
  type InventoryMachine,
  inventoryFile,
  inventorySchema,
  inventoryText,
} from '../contract/inventory.ts';
import { masterCount, workerCount } from '../install-config/cluster-facts.ts';
import type { InstallConfig } from '../install-config/schema.ts';
import { platformTraits } from '../platform/platform-traits.ts';
import { asset, textOf } from './asset.ts';
import { readAssetJson } from './checked-files.ts';
import { addressAt, machineRange } from './cluster-names.ts';
import { installConfig } from './install-config.ts';

const path = inventoryFile;

export const inventory = asset({
  name: 'inventory',
  why: 'A certificate request is believed only from a machine we expect; this is the list of them.',
  neededUntil: 'the cluster is destroyed; machines that join later are added to it',
  inputs: { installConfig },
  outputs: [path],
  generate: ({ installConfig: config }) => [{ path, content: inventoryText(listMachines(config)) }],
  read: (files) => readAssetJson(path, textOf(files), inventorySchema),
});

/** Where the local platform puts its machines: bootstrap at .10, masters from .11, workers from .21 (or behind). */
function listMachines(config: InstallConfig): Inventory {
  if (!platformTraits(config.platform).makesMachines)
    return { isClosed: config.hosts.length > 0, machines: [...config.hosts] };
  const range = machineRange(config);
  const named = (role: 'master' | 'worker', count: number, from: number): readonly InventoryMachine[] =>
    Array.from({ length: count }, (_, n) => ({
      name: `${role}-${n}`,
      role,
      addresses: [addressAt(range, from + n)],
    }));
  const masters = named('master', masterCount(config), 11);
  const workers = named('worker', workerCount(config), 21);
  const bootstrap: InventoryMachine = { name: 'bootstrap', role: 'bootstrap', addresses: [addressAt(range, 10)] };
  return { isClosed: true, machines: [bootstrap, ...masters, ...workers] };
}
