// What machines are made from: the release builds it, `machine create --image` reads it from a file, a platform uses
// it. All machines share it and nobody writes below its folders; what a machine changes is in the machine's own folder.
import { z } from 'zod';

export const machineImageSchema = z.strictObject({
  /** Debian with Ignition, Node and Firstlight: the lower folder of every machine's overlay. */
  rootFolder: z.string(),
  /** A containerd folder with all images of the release imported, to be cloned; without it a machine starts empty. */
  containerdSeed: z.string().exactOptional(),
  /** Files below the seed that containerd writes into: a clone copies these, the rest may be hard links. */
  seedDatabases: z.array(z.string()).readonly().exactOptional(),
  /** The CoreDNS program that answers names on the network of a cluster on this host. */
  coredns: z.string(),
  /** Of the root and so of everything in it, the release manifest included; recorded with every machine. */
  digest: z.string(),
});

export type MachineImage = z.output<typeof machineImageSchema>;
