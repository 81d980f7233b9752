// The real containerd and kubelet on a real machine, with the node's own units: a static pod from a file, with images
// that were on the machine before it started.
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { pauseImage } from '../../src/assets/pause-image.ts';
import { containerdConfigText } from '../../src/node-software/containerd-config.ts';
import { ignitionUnit } from '../../src/node-software/ignition-unit.ts';
import { kubeletConfigurationText } from '../../src/node-software/kubelet-configuration.ts';
import {
  containerdConfig,
  kubeletConfiguration,
  kubeletEnvironment,
  nodeSettingsFile,
  staticPodFolder,
} from '../../src/node-software/machine-paths.ts';
import { nodeSettingsText } from '../../src/node-software/node-preparation.ts';
import { containerdUnit, kubeletUnit, prepareUnit } from '../../src/node-software/node-units.ts';
import { cli, eventually, inside, temporaryFolder } from './machine-lab.ts';

const cluster = `e2e-pod-${process.pid}`;
const folder = temporaryFolder();

const pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'still', namespace: 'kube-system' },
  spec: { hostNetwork: true, containers: [{ name: 'still', image: pauseImage, imagePullPolicy: 'Never' }] },
};

function file(path: string, content: string): object {
  return { path, mode: 0o644, contents: { source: `data:;base64,${Buffer.from(content).toString('base64')}` } };
}

const ignition = {
  ignition: { version: '3.5.0' },
  storage: {
    files: [
      file(containerdConfig, containerdConfigText({ pauseImage })),
      file(kubeletConfiguration, kubeletConfigurationText({ kind: 'standalone' })),
      file(kubeletEnvironment, ''),
      file(nodeSettingsFile, nodeSettingsText({ machineNetworks: ['10.99.0.0/24'] })),
      file(`${staticPodFolder}/still.json`, JSON.stringify(pod)),
    ],
  },
  systemd: { units: [prepareUnit, containerdUnit, kubeletUnit({ mode: 'standalone' })].map(ignitionUnit) },
};

afterAll(async () => {
  await cli('machine', 'destroy', '--all', '--cluster', cluster);
  rmSync(folder, { recursive: true });
});

/** Start of a process since boot, in seconds, for each process whose command line matches. */
const startTimes = (pattern: string): string =>
  `for pid in $(pgrep -x ${pattern}); do awk '{print $22 / 100}' /proc/$pid/stat; done`;

test('a static pod runs under the real kubelet, within seconds of its start, and again after a reboot', async () => {
  const path = join(folder, 'pod.ign');
  writeFileSync(path, JSON.stringify(ignition));
  await cli('machine', 'create', '--cluster', cluster, '--ignition', path, 'node');
  const seconds = async (): Promise<number> => {
    const started = await eventually('the start of the pod', 60, async () => {
      const times = (await inside(cluster, 'node', startTimes('pause'))).trim().split('\n').filter(Boolean).map(Number);
      // One holds the sandbox, the other is the pod's own container.
      return times.length === 2 ? Math.max(...times) : undefined;
    });
    return started - Number(await inside(cluster, 'node', startTimes('kubelet')));
  };
  const first = await seconds();
  await cli('machine', 'reboot', '--cluster', cluster, 'node');
  const second = await seconds();
  // Two seconds on a quiet host; the bound leaves room for a busy one.
  expect({ first: first < 10, second: second < 10 }).toEqual({ first: true, second: true });
});
