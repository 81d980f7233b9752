// The configuration of containerd (version 3) in two parts that containerd merges: what holds for every machine of a
// pool, and what only the machine itself can know. A `false` in an imported file does not override a `true`, so a
// setting lives in exactly one of the two.
import { stringify } from 'smol-toml';
import { cniConfigFolder, cniPluginFolder, registryHostsFolder, runtimePaths } from '../contract/machine-paths.ts';

const images = 'io.containerd.cri.v1.images';
const runtime = 'io.containerd.cri.v1.runtime';

export interface ContainerdOptions {
  /** The image of every pod's sandbox; pinned, so that the kubelet's clean-up never removes it. */
  readonly pauseImage: string;
}

export function containerdConfigText({ pauseImage }: ContainerdOptions): string {
  return stringify({
    version: 3,
    // conf.d is for MachineConfigs of the user; the file of the machine itself comes last and overrides them.
    imports: ['/etc/containerd/conf.d/*.toml', `${runtimePaths.containerdFolder}/*.toml`],
    plugins: {
      [images]: {
        snapshotter: 'overlayfs',
        pinned_images: { sandbox: pauseImage },
        registry: { config_path: registryHostsFolder },
      },
      [runtime]: {
        cni: { bin_dirs: [cniPluginFolder], conf_dir: cniConfigFolder },
        containerd: {
          default_runtime_name: 'runc',
          runtimes: { runc: { runtime_type: 'io.containerd.runc.v2' } },
        },
      },
    },
  });
}

export type CgroupDriver = 'systemd' | 'cgroupfs';

export interface ContainerdMachineOptions {
  readonly cgroupDriver: CgroupDriver;
  /** Without CAP_SYS_RESOURCE no process may lower an OOM score, and runc fails when it tries. */
  readonly restrictsOomScore: boolean;
}

export function containerdMachineConfigText({ cgroupDriver, restrictsOomScore }: ContainerdMachineOptions): string {
  return stringify({
    version: 3,
    plugins: {
      [runtime]: {
        ...(restrictsOomScore ? { restrict_oom_score_adj: true } : {}),
        containerd: { runtimes: { runc: { options: { SystemdCgroup: cgroupDriver === 'systemd' } } } },
      },
    },
  });
}
