// A machine with the node's own containerd and kubelet and one static pod, and how long the pod took: for the test that
// it runs and for the figure how fast.
import { pauseImage } from '../../src/assets/software-facts.ts';
import {
  containerdConfig,
  kubeletConfiguration,
  kubeletEnvironment,
  nodeSettingsFile,
  staticPodFolder,
} from '../../src/contract/machine-paths.ts';
import { nodeSettingsText } from '../../src/contract/node-settings.ts';
import { containerdConfigText } from '../../src/machine-software/containerd-config.ts';
import { ignitionUnit } from '../../src/machine-software/ignition-unit.ts';
import { kubeletConfigurationText } from '../../src/machine-software/kubelet-configuration.ts';
import { containerdUnit, kubeletUnit, prepareUnit } from '../../src/machine-software/node-units.ts';
import { eventually, inside } from './machine-lab.ts';

export const still = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'still', namespace: 'kube-system' },
  spec: { hostNetwork: true, containers: [{ name: 'still', image: pauseImage, imagePullPolicy: 'Never' }] },
};

export function file(path: string, content: string): object {
  return { path, mode: 0o644, contents: { source: `data:;base64,${Buffer.from(content).toString('base64')}` } };
}

interface StaticPods {
  /** By name. */
  readonly pods: Readonly<Record<string, object>>;
  readonly files?: readonly object[];
}

/** A machine whose kubelet knows no API: it runs these pods. */
export const staticPodIgnition = ({ pods, files = [] }: StaticPods): object => ({
  ignition: { version: '3.5.0' },
  storage: {
    files: [
      file(containerdConfig, containerdConfigText({ pauseImage })),
      file(kubeletConfiguration, kubeletConfigurationText({ kind: 'standalone' })),
      file(kubeletEnvironment, ''),
      file(nodeSettingsFile, nodeSettingsText({ machineNetworks: ['10.99.0.0/24'] })),
      ...Object.entries(pods).map(([name, one]) => file(`${staticPodFolder}/${name}.json`, JSON.stringify(one))),
      ...files,
    ],
  },
  systemd: { units: [prepareUnit, containerdUnit, kubeletUnit({ mode: 'standalone' })].map(ignitionUnit) },
});

/** Seconds since the host's boot at which processes of this name were started. */
async function startTimes(cluster: string, machine: string, name: string): Promise<readonly number[]> {
  const script = `for pid in $(pgrep -x ${name}); do awk '{ print $22 / 100 }' /proc/$pid/stat; done`;
  return (await inside(cluster, machine, script)).trim().split('\n').filter(Boolean).map(Number);
}

/** How long after the kubelet's start the pod's own container was started. */
export async function secondsToPod(cluster: string, machine: string): Promise<number> {
  const started = await eventually('the start of the pod', 60, async () => {
    const times = await startTimes(cluster, machine, 'pause');
    // One holds the sandbox, the other is the pod's own container.
    return times.length === 2 ? Math.max(...times) : undefined;
  });
  const [kubelet = Number.NaN] = await startTimes(cluster, machine, 'kubelet');
  return started - kubelet;
}
