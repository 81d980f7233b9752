// How machines are run on this host, as a pure function of what was detected: the one place that knows how hosts
// differ. All other code reads the plan. Its tests are a table of hosts.
import type { CgroupMount, DetectedHost } from './detected-host.ts';

export interface MachinePlan {
  /** What supervises a machine's processes: a session of our own, or a transient unit of the host's systemd. */
  readonly supervisor: 'session' | 'systemd-unit';
  readonly cgroup: CgroupPlan;
  /** What the software inside must know about the kernel it shares with this host. */
  readonly node: NodeFacts;
}

export interface NodeFacts {
  /** On version 1 the controllers are mounted read-only inside and kubelet needs them writable. */
  readonly cgroupVersion: 1 | 2;
  /** Without CAP_SYS_RESOURCE no process inside may lower an oom_score_adj, and runc fails when told to. */
  readonly restrictsOomScoreAdj: boolean;
}

export type CgroupPlan =
  /** The host's systemd gives the unit a group of its own, with every controller. */
  | { readonly kind: 'delegated'; readonly version: 2 }
  /** We make `<mount>/<group>` in each of these hierarchies and remove it again. */
  | { readonly kind: 'own'; readonly version: 1; readonly mounts: readonly string[]; readonly cpusetMount?: string }
  | {
      readonly kind: 'own';
      readonly version: 2;
      readonly mounts: readonly string[];
      readonly controllers: readonly string[];
    };

/** Resource controllers that kubelet asks for; those that exist are enabled for the machine on version 2. */
const handedDown: readonly string[] = ['cpuset', 'cpu', 'io', 'memory', 'hugetlb', 'pids'];

export function planMachines(detected: DetectedHost): MachinePlan {
  const { cgroupMounts, hasHostSystemd } = detected;
  const version = cgroupVersion(cgroupMounts);
  return {
    supervisor: hasHostSystemd ? 'systemd-unit' : 'session',
    cgroup: version === 2 ? planVersion2(cgroupMounts, hasHostSystemd) : planVersion1(cgroupMounts, hasHostSystemd),
    node: { cgroupVersion: version, restrictsOomScoreAdj: !detected.capabilities.includes('SYS_RESOURCE') },
  };
}

/** Version 2 only where it has the memory controller: a hybrid host keeps the controllers in version 1. */
export function cgroupVersion(mounts: readonly CgroupMount[]): 1 | 2 {
  return mounts.some((mount) => mount.version === 2 && mount.controllers.includes('memory')) ? 2 : 1;
}

function planVersion2(mounts: readonly CgroupMount[], hasHostSystemd: boolean): CgroupPlan {
  if (hasHostSystemd) return { kind: 'delegated', version: 2 };
  const unified = mounts.filter((mount) => mount.version === 2);
  const available = new Set(unified.flatMap((mount) => mount.controllers));
  const controllers = handedDown.filter((name) => available.has(name));
  return { kind: 'own', version: 2, mounts: unified.map((mount) => mount.path), controllers };
}

/**
 * The `systemd` and `unified` hierarchies are among them: otherwise all machines share one group there, and the kubelet
 * of one machine tries to remove pods of another. A host's systemd separates its units in these two by itself.
 */
function planVersion1(mounts: readonly CgroupMount[], hasHostSystemd: boolean): CgroupPlan {
  const isSystemds = (mount: CgroupMount): boolean => mount.version === 2 || mount.controllers.includes('name=systemd');
  const ours = mounts.filter((mount) => !hasHostSystemd || !isSystemds(mount));
  const cpuset = ours.find((mount) => mount.controllers.includes('cpuset'));
  return {
    kind: 'own',
    version: 1,
    mounts: ours.map((mount) => mount.path),
    ...(cpuset === undefined ? {} : { cpusetMount: cpuset.path }),
  };
}
