// A machine as a value: what it is meant to be. What it is right now is never stored, only observed (observed-machine.ts).
import { z } from 'zod';
import { type MachineRole, machineRoles } from '../contract/machine-role.ts';

/** One DNS label, because machines are known by name on the cluster's network. */
const label = z
  .string()
  .regex(/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/, 'must be a DNS label: a-z, 0-9 and inner dashes');

/** Names that the cluster's name server answers itself. */
const reservedNames: readonly string[] = ['api', 'api-int', 'apps', 'switch'];

export const clusterName = label;
export const machineName = label.refine((name) => !reservedNames.includes(name), {
  message: `is taken by the cluster itself: ${reservedNames.join(', ')}`,
});

export const machineSchema = z.strictObject({
  name: machineName,
  role: z.enum(machineRoles),
  address: z.ipv4(),
  /** Identity inside the machine, as in /etc/machine-id. */
  machineId: z.string().regex(/^[0-9a-f]{32}$/),
  image: z.strictObject({ rootFolder: z.string(), digest: z.string() }),
  /** SHA-256 of the Ignition config it was made with; the config itself is in the machine until its first boot is over. */
  ignitionDigest: z.string(),
});

export type Machine = z.infer<typeof machineSchema>;

/** What the caller decides about a new machine; the rest is chosen when it is made. */
export interface MachineRequest {
  readonly name: string;
  readonly role: MachineRole;
  /** Next free address of the machine network when not given. */
  readonly address?: string;
  readonly ignition: Uint8Array;
}
