// What a careless administrator leaves behind on a node, and how it looks on a machine where all of it is mended.
import { kubeletConfiguration } from '../../../src/contract/machine-paths.ts';
import type { ConfigCluster } from '../machine-config/config-lab.ts';
import { inside } from '../machine-lab.ts';

const units = '/etc/systemd/system';
const foreignDropin = `${units}/kubelet.service.d/99-foreign.conf`;

interface Wreck {
  readonly what: string;
  readonly make: string;
  /** What a shell prints once it is mended. */
  readonly look: string;
  readonly mended: string;
}

export const wrecks: readonly Wreck[] = [
  {
    what: 'the configuration of the kubelet is deleted',
    make: `rm -f ${kubeletConfiguration}`,
    look: `grep -c '^kind: KubeletConfiguration' ${kubeletConfiguration}`,
    mended: '1',
  },
  {
    what: 'a unit of ours is masked',
    make: `ln -sf /dev/null ${units}/kubelet.service && systemctl daemon-reload`,
    look: 'systemctl is-active kubelet.service; systemctl is-enabled kubelet.service',
    mended: 'active\nenabled',
  },
  {
    what: 'another one is disabled',
    make: 'systemctl disable --quiet firstlight-agent.service',
    look: 'systemctl is-enabled firstlight-agent.service',
    mended: 'enabled',
  },
  {
    what: 'a foreign drop-in keeps the kubelet from starting',
    make: `mkdir -p ${units}/kubelet.service.d && printf '[Service]\\nExecStart=\\nExecStart=/bin/false\\n' > ${foreignDropin}`,
    look: `ls ${foreignDropin} 2>/dev/null || echo gone`,
    mended: 'gone',
  },
  {
    what: 'the configuration of the container runtime belongs to somebody and says nothing',
    make: 'chown 1234:1234 /etc/containerd/config.toml && : > /etc/containerd/config.toml',
    look: `stat -c '%u %g' /etc/containerd/config.toml; test -s /etc/containerd/config.toml && echo full`,
    mended: '0 0\nfull',
  },
];

export async function wreck(cluster: ConfigCluster, machine: string): Promise<void> {
  await inside(cluster.infraId(), machine, wrecks.map(({ make }) => make).join(' && '));
}

/** What a shell prints about each. */
export async function seenOfWrecks(cluster: ConfigCluster, machine: string): Promise<readonly string[]> {
  const looks = wrecks.map(({ look }) => `{ ${look}; } || true`).join('; echo --; ');
  return (await inside(cluster.infraId(), machine, looks)).split('--\n').map((seen) => seen.trimEnd());
}
