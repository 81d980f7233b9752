// The inventory: the machines that may join. It is an asset on the workstation, a file on the bootstrap machine, and in
// the cluster a ConfigMap that `node add` and `node remove` change.
import { z } from 'zod';

const machine = z.strictObject({
  name: z.string(),
  role: z.enum(['bootstrap', 'master', 'worker']),
  /** The MachineConfigPool of the user's own that a worker was added to. Its Node may have left that pool since. */
  pool: z.string().exactOptional(),
  addresses: z.array(z.string()).min(1),
});

export const inventorySchema = z.strictObject({
  /** Closed: only these machines may join. Open: every machine that has a pool token may join. */
  isClosed: z.boolean(),
  machines: z.array(machine),
});

export type Inventory = z.output<typeof inventorySchema>;
export type InventoryMachine = Inventory['machines'][number];

/** Relative to the asset folder, and to the copy of it on the bootstrap machine. */
export const inventoryFile = 'inventory.json';

export function inventoryText(inventory: Inventory): string {
  return `${JSON.stringify(inventory, null, 2)}\n`;
}

/** Returns undefined if there is no text or the text is not a valid inventory. */
export function readInventory(text: string | undefined): Inventory | undefined {
  if (text === undefined) return undefined;
  try {
    return inventorySchema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}
