// The completion of a first boot on a real machine, as the in-place bootstrapper will use it: a machine that was not
// configured by a config server gets a whole MachineConfig before its kubelet starts, and reboots once.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { dataUrl, ignitionVersion, writeIgnition } from './ignition-file.ts';
import { cli, eventually, inside, temporaryFolder } from './machine-lab.ts';

const cluster = `e2e-complete-${process.pid}`;
const folder = temporaryFolder();
const encapsulated = '/etc/ignition-machine-config-encapsulated.json';
const bootId = '/proc/sys/kernel/random/boot_id';

const machineConfig = {
  apiVersion: 'machineconfiguration.openshift.io/v1',
  kind: 'MachineConfig',
  metadata: { name: 'rendered-worker-in-place' },
  spec: {
    kernelType: 'default',
    config: {
      ignition: { version: ignitionVersion },
      storage: {
        directories: [{ path: '/etc/example.d', mode: 0o750 }],
        files: [
          { path: '/etc/example.d/a', mode: 0o640, group: { name: 'daemon' }, contents: { source: 'data:,new' } },
          { path: '/etc/issue', mode: 0o600, contents: { source: 'data:,ours' } },
        ],
        links: [{ path: '/etc/example-link', target: '/etc/example.d/a' }],
      },
      systemd: {
        units: [
          {
            name: 'after-reboot.service',
            enabled: true,
            contents: `[Service]\nType=oneshot\nRemainAfterExit=yes\nExecStart=/bin/cp ${bootId} /var/lib/after-reboot\n[Install]\nWantedBy=multi-user.target\n`,
          },
          { name: 'systemd-timesyncd.service', mask: true },
        ],
      },
    },
  },
};

const note = (file: string): string => `ExecStart=/bin/sh -c 'cat ${bootId} >> ${file}'`;
const ignition = writeIgnition(join(folder, 'machine.ign'), {
  storage: {
    files: [{ path: encapsulated, mode: 0o600, contents: { source: dataUrl(JSON.stringify(machineConfig)) } }],
  },
  systemd: {
    units: [
      {
        name: 'complete-first-boot.service',
        enabled: true,
        contents: `[Unit]
ConditionPathExists=${encapsulated}
Before=kubelet.service
[Service]
Type=oneshot
ExecStart=/usr/local/bin/machine-config-daemon firstboot-complete-machineconfig
[Install]
RequiredBy=kubelet.service
`,
      },
      {
        name: 'kubelet.service',
        enabled: true,
        contents: `[Service]\nType=oneshot\n${note('/var/lib/kubelet-starts')}\n[Install]\nWantedBy=multi-user.target\n`,
      },
      {
        name: 'boots.service',
        enabled: true,
        contents: `[Service]\nType=oneshot\n${note('/var/lib/boots')}\n[Install]\nWantedBy=sysinit.target\n`,
      },
    ],
  },
});

const at = async (script: string): Promise<string> => inside(cluster, 'a', script);

beforeAll(async () => {
  await cli('machine', 'create', '--cluster', cluster, '--ignition', ignition, 'a');
  await eventually('that the machine comes back with its config', 120, async () =>
    at('cat /var/lib/kubelet-starts').catch(() => undefined),
  );
}, 180_000);

afterAll(async () => {
  await cli('machine', 'destroy', '--all', '--cluster', cluster);
  rmSync(folder, { recursive: true });
});

test('the machine has the config, as Ignition would have made it', async () => {
  expect(await at('stat -c "%a %U:%G" /etc/example.d /etc/example.d/a /etc/issue')).toBe(
    '750 root:root\n640 root:daemon\n600 root:root\n',
  );
  expect(await at('cat /etc/example-link; readlink /etc/systemd/system/systemd-timesyncd.service')).toBe(
    'new/dev/null\n',
  );
  expect(await at('systemctl is-enabled after-reboot.service')).toBe('enabled\n');
});

test('it rebooted once, and the kubelet never ran before', async () => {
  const [boots, kubelet, now, unit] = await Promise.all(
    ['/var/lib/boots', '/var/lib/kubelet-starts', bootId, '/var/lib/after-reboot'].map(async (file) =>
      at(`cat ${file}`),
    ),
  );
  expect(boots?.trim().split('\n')).toHaveLength(2);
  expect([kubelet, unit]).toEqual([now, now]);
});

test('the original of a file of the system is kept, and nothing is left to do', async () => {
  expect(await at('cat /etc/machine-config-daemon/orig/etc/issue.mcdorig')).toContain('Debian');
  expect(await at(`ls ${encapsulated}* /var/lib/firstlight/machine-config`)).toBe(
    `${encapsulated}.bak\n\n/var/lib/firstlight/machine-config:\n`,
  );
  expect(await at('machine-config-daemon firstboot-complete-machineconfig')).toBe('nothing is left to do\n');
});
