// The machines that may join, as data: on the workstation an asset, on the bootstrap machine a file, in the cluster a
// ConfigMap that `node add` and `node remove` change.
import { z } from 'zod';

const machine = z.strictObject({
  name: z.string(),
  role: z.enum(['bootstrap', 'master', 'worker']),
  addresses: z.array(z.string()).min(1),
});

export const inventorySchema = z.strictObject({
  /** Closed: nobody else may join. Open: whoever holds a pool token may. */
  isClosed: z.boolean(),
  machines: z.array(machine),
});

export type Inventory = z.output<typeof inventorySchema>;
export type InventoryMachine = Inventory['machines'][number];

/** Relative to the asset folder, and to the bootstrap machine's copy of it. */
export const inventoryFile = 'inventory.json';

export function inventoryText(inventory: Inventory): string {
  return `${JSON.stringify(inventory, null, 2)}\n`;
}

/** Undefined where there is no text, or one that is no inventory. */
export function readInventory(text: string | undefined): Inventory | undefined {
  if (text === undefined) return undefined;
  try {
    return inventorySchema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}
