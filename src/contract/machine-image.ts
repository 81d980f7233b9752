// The image that machines are made from: the release builds it, `machine create --image` reads it from a file, and a
// platform uses it. All machines share its folders, so no program may write there. The changes of a machine are in the
// folder of that machine.
import { z } from 'zod';

export const machineImageSchema = z.strictObject({
  /** Debian with Ignition, Node and Firstlight: the lower folder of every machine's overlay. */
  rootFolder: z.string(),
  /** A containerd folder with all images of the release; machines begin with it. Without it, machines start empty. */
  containerdSeed: z.string().exactOptional(),
  /**
   * Places of the seed that containerd never changes, relative to it; `*` stands for any name. Machines read them where
   * they are and have a copy of everything else. They contain no whiteouts: an overlay above them would apply these.
   */
  seedLayers: z.array(z.string()).readonly().exactOptional(),
  /** The CoreDNS program that resolves names on the network of a cluster on this host. */
  coredns: z.string(),
  /** The digest of the root folder, which includes the release manifest. It is recorded with every machine. */
  digest: z.string(),
});

export type MachineImage = z.output<typeof machineImageSchema>;
