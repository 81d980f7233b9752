// Paths in the pod: what the DaemonSet mounts, and where its program looks for it.
export const podPaths = {
  facts: '/etc/ipb/facts.json',
  token: '/var/run/secrets/ipb/token',
  /** In memory: it holds the settings, which have the tokens of the Secret. */
  work: '/run/ipb',
  /** The root of the host. */
  host: '/host',
} as const;
