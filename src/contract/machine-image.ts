// The image that machines are made from: the release builds it, `machine create --image` reads it from a file, and a
// platform uses it. All machines share its folders, so no program may write there. The changes of a machine are in the
// folder of that machine.
import { z } from 'zod';

export const machineImageSchema = z.strictObject({
  /** Debian with Ignition, Node and Firstlight: the lower folder of every machine's overlay. */
  rootFolder: z.string(),
  /** A containerd folder with all images of the release; machines get a clone. Without it, machines start empty. */
  containerdSeed: z.string().exactOptional(),
  /** Files of the seed that containerd changes: a clone must copy these. All other files may be hard links. */
  seedDatabases: z.array(z.string()).readonly().exactOptional(),
  /** The CoreDNS program that resolves names on the network of a cluster on this host. */
  coredns: z.string(),
  /** The digest of the root folder, which includes the release manifest. It is recorded with every machine. */
  digest: z.string(),
});

export type MachineImage = z.output<typeof machineImageSchema>;
