// The processors a cluster may have, by the names Kubernetes and OCI images use.
export const architectures = ['amd64', 'arm64'] as const;
export type Architecture = (typeof architectures)[number];

/** From Node's name for this machine. On any other architecture the machines are most likely amd64. */
export function architectureOf(nodeName: string): Architecture {
  return nodeName === 'arm64' ? 'arm64' : 'amd64';
}
