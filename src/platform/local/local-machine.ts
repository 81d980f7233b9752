// A local machine as its machine.json describes it: fixed when the machine is made, never changed afterwards.
import { z } from 'zod';
import { machineRoles } from '../../contract/machine-role.ts';
import { machineName } from '../machine.ts';

export const localMachineSchema = z.strictObject({
  name: machineName,
  role: z.enum(machineRoles),
  address: z.ipv4(),
  /** Identity inside the machine, as in /etc/machine-id. */
  machineId: z.string().regex(/^[0-9a-f]{32}$/),
  image: z.strictObject({
    rootFolder: z.string(),
    /** Absent where the machine has no images to begin with, or its own copy of them. */
    containerdSeed: z.string().exactOptional(),
    digest: z.string(),
  }),
  /** SHA-256 of the Ignition config it was made with; the config itself stays until the first boot is over. */
  ignitionDigest: z.string(),
});

export type LocalMachine = z.infer<typeof localMachineSchema>;
