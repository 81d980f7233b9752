// What a machine is made from: one read-only root that all machines share, prepared once by the release.
// The platform never writes below `rootFolder`; everything a machine changes is in its own folder.
export interface MachineImage {
  /** Debian with Ignition, Node and the `firstlight` bundle in it; the lower folder of every machine's overlay. */
  readonly rootFolder: string;
  /** A containerd folder with all images imported, to be cloned by hard links; a machine without it starts empty. */
  readonly containerdSeed?: string;
  /** Files below the seed that containerd writes into: a clone needs real copies of these. */
  readonly seedDatabases?: readonly string[];
  /** The CoreDNS that answers names on the cluster's network; runs on this host. */
  readonly coredns: string;
  /** Identifies the content; recorded with every machine made from it. */
  readonly digest: string;
}
