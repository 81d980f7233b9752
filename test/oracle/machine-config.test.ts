// What we render, put to those who will read it: Ignition accepts it and merges MachineConfigs as we do; containerd
// puts our two files together and ends up with the settings we meant.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse as parseToml } from 'smol-toml';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runtimePaths } from '../../src/contract/machine-paths.ts';
import type { IgnitionConfig } from '../../src/ignition/config.ts';
import { normalize, serialize } from '../../src/ignition/serialize.ts';
import { baseMachineConfigs, sshMachineConfig } from '../../src/machine-config/base-machine-configs.ts';
import type { MachineConfig } from '../../src/machine-config/machine-config.ts';
import { configSpec, roleLabel } from '../../src/machine-config/machine-config.ts';
import { builtInPools } from '../../src/machine-config/pools.ts';
import { renderPool } from '../../src/machine-config/render.ts';
import { containerdConfigText, containerdMachineConfigText } from '../../src/machine-software/containerd-config.ts';
import { askOracle } from './ignition-oracle.ts';
import { fullFacts, sampleFacts } from './machine-config-sample.ts';
import { oracleProgram } from './programs.ts';

const users: MachineConfig[] = [
  sshMachineConfig('worker', ['ssh-ed25519 AAAA one', 'ssh-ed25519 BBBB two']),
  {
    metadata: { name: '98-worker-logging', labels: { [roleLabel]: 'worker' }, annotations: {} },
    spec: configSpec({
      ignition: { version: '3.2.0' },
      systemd: {
        units: [{ name: 'kubelet.service', dropins: [{ name: '20-logging.conf', contents: '[Service]\nNice=1\n' }] }],
      },
      storage: {
        files: [{ path: '/etc/sysctl.d/90-firstlight.conf', mode: 0o600, contents: { source: 'data:,mine' } }],
      },
    }),
  },
];
const all = [...baseMachineConfigs(fullFacts, 'test'), ...users];

function rendered(role: string) {
  const pool = builtInPools.find(({ metadata }) => metadata.name === role)!;
  return renderPool(pool, all, { generatedBy: 'test' });
}

describe('Ignition', () => {
  test.each(['master', 'worker'])('has nothing against the rendered configuration of %s', (role) => {
    const config = serialize(rendered(role).machineConfig.spec.config);
    expect(askOracle([{ op: 'validate', config }])).toMatchObject([{ verdict: 'fine', entries: [] }]);
  });

  test.each(['master', 'worker'])('merges the MachineConfigs of %s as we do', (role) => {
    const { sources, machineConfig } = rendered(role);
    const [first, ...rest] = sources.map(({ spec }) => serialize(spec.config));
    const theirs = rest.reduce(
      (parent, child) => JSON.stringify(askOracle([{ op: 'merge', parent, child }])[0]?.config),
      first!,
    );
    const merged = JSON.parse(theirs) as IgnitionConfig;
    const files = (merged.storage?.files ?? []).map((file) => ({ ...file, overwrite: true }));
    const expected = normalize({ ...merged, storage: { ...merged.storage, files } });
    expect(machineConfig.spec.config).toEqual(JSON.parse(JSON.stringify(expected)));
  });
});

describe('containerd', () => {
  let folder = '';
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'firstlight-containerd-'));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const containerd = (): string => oracleProgram('containerd');

  interface Dump {
    readonly plugins: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  }

  function dump(machine: Parameters<typeof containerdMachineConfigText>[0]): Dump {
    const imported = join(folder, 'run');
    mkdirSync(imported, { recursive: true });
    const text = containerdConfigText(sampleFacts).replace(runtimePaths.containerdFolder, imported);
    writeFileSync(join(folder, 'config.toml'), text);
    writeFileSync(join(imported, 'machine.toml'), containerdMachineConfigText(machine));
    const args = ['--config', join(folder, 'config.toml'), 'config', 'dump'];
    const run = spawnSync(containerd(), args, { encoding: 'utf8' });
    if (run.status !== 0) throw new Error(run.stderr);
    return parseToml(run.stdout) as unknown as Dump;
  }

  test.each([
    { cgroupDriver: 'systemd', restrictsOomScore: false },
    { cgroupDriver: 'systemd', restrictsOomScore: true },
    { cgroupDriver: 'cgroupfs', restrictsOomScore: true },
    { cgroupDriver: 'cgroupfs', restrictsOomScore: false },
  ] as const)('puts pool and machine together: %j', (machine) => {
    const { plugins } = dump(machine);
    expect(plugins['io.containerd.cri.v1.runtime']).toMatchObject({
      restrict_oom_score_adj: machine.restrictsOomScore,
      cni: { bin_dirs: ['/opt/cni/bin'], conf_dir: '/etc/cni/net.d' },
      containerd: {
        default_runtime_name: 'runc',
        runtimes: {
          runc: {
            runtime_type: 'io.containerd.runc.v2',
            options: { SystemdCgroup: machine.cgroupDriver === 'systemd' },
          },
        },
      },
    });
    expect(plugins['io.containerd.cri.v1.images']).toMatchObject({
      pinned_images: { sandbox: sampleFacts.pauseImage },
      registry: { config_path: '/etc/containerd/certs.d' },
      snapshotter: 'overlayfs',
    });
  });
});
