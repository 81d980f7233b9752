// The shell itself judges the scripts; what they do on a real host is seen in test/e2e/machines.test.ts.
import { execFileSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import type { LocalMachine } from './local-machine.ts';
import type { CgroupPlan, MachinePlan } from './plan.ts';
import { startScript } from './start-script.ts';

const machine: LocalMachine = {
  name: 'a',
  role: 'worker',
  address: '10.99.0.10',
  machineId: '0'.repeat(32),
  image: { rootFolder: "/images/it's a root", digest: 'd' },
  ignitionDigest: 'i',
};
const cgroups = {
  one: { kind: 'own', version: 1, mounts: ['/cg/cpuset', '/cg/memory'], cpusetMount: '/cg/cpuset' },
  two: { kind: 'own', version: 2, mounts: ['/cg'], controllers: ['cpu', 'memory'] },
  unit: { kind: 'delegated', version: 2 },
} satisfies Record<string, CgroupPlan>;

function script(supervisor: MachinePlan['supervisor'], cgroup: CgroupPlan, of = machine): string {
  const node = { cgroupVersion: cgroup.version, restrictsOomScoreAdj: false } as const;
  return startScript({ cluster: 'demo', machine: of, plan: { supervisor, cgroup, node } });
}

describe('the start script', () => {
  test.each([
    ['session', 'one'],
    ['session', 'two'],
    ['systemd-unit', 'one'],
    ['systemd-unit', 'unit'],
  ] as const)(
    'for %s and cgroup %s is a script the shell accepts, whatever the paths contain',
    (supervisor, cgroup) => {
      const text = script(supervisor, cgroups[cgroup]);
      execFileSync('sh', ['-n'], { input: text });
      expect(text).toContain(`'lowerdir=/images/it'\\''s a root,upperdir=`);
    },
  );

  test('moves itself into its groups before it runs anything', () => {
    const lines = script('session', cgroups.one).split('\n');
    const enter = lines.findIndex((line) => line.includes('cgroup.procs'));
    expect(lines.findIndex((line) => line.includes('cpuset.cpus'))).toBeLessThan(enter);
    expect(lines.findIndex((line) => line.startsWith('mount '))).toBeGreaterThan(enter);
    expect(lines.findIndex((line) => line.includes('systemd-nspawn'))).toBeGreaterThan(enter);
  });

  test('records itself before anything else, and nspawn before it starts', () => {
    const lines = script('session', cgroups.two).split('\n');
    const folder = '/var/lib/firstlight/clusters/demo/machines/a';
    expect(lines[3]).toMatch(new RegExp(`/proc/\\$\\$/stat > ${folder}/supervisor.process\\)$`));
    const run = lines.find((line) => line.includes('systemd-nspawn')) ?? '';
    expect(run).toMatch(
      new RegExp(`sh -c '[^']*/proc/\\$\\$/stat > ${folder}/nspawn.process\\) && exec "\\$@"' sh sh `),
    );
  });

  test('on version 2 keeps the group that hands controllers down free of processes', () => {
    const text = script('session', cgroups.two);
    expect(text).toContain('for group in /cg/firstlight/demo/a/script; do');
    expect(text).toContain('echo +memory > /cg/firstlight/demo/a/cgroup.subtree_control');
    expect(text).toContain('/cg/firstlight/demo/a/machine/cgroup.procs');
    expect(text).toContain('SYSTEMD_NSPAWN_UNIFIED_HIERARCHY=1');
  });

  test('mounts the images of the release without a folder to write into, and gives the machine that mount', () => {
    const seed = '/cache/a:b/seed';
    const folder = '/var/lib/firstlight/clusters/demo/machines/a';
    const text = script('session', cgroups.one, { ...machine, image: { ...machine.image, containerdSeed: seed } });
    const layers = String.raw`'lowerdir=/cache/a\:b/seed:${folder}/layers'`;
    expect(text).toContain(`\nmount -t overlay overlay -o ${layers} ${folder}/layers\n`);
    expect(text).toContain(` --bind-ro=${folder}/layers:/var/lib/containerd-layers `);
    expect(script('session', cgroups.one)).not.toContain('layers');
  });

  test('loops over reboots by itself only where no systemd does it', () => {
    expect(script('session', cgroups.one)).toContain('while :');
    const unit = script('systemd-unit', cgroups.unit);
    expect(unit).not.toContain('while :');
    expect(unit).toMatch(/^exec env SYSTEMD_NSPAWN_UNIFIED_HIERARCHY=1 sh -c '.* && exec "\$@"' sh systemd-nspawn /m);
  });

  test('cleans up after the machine’s last life before every new one', () => {
    const text = script('session', cgroups.one);
    const body = text.slice(text.indexOf('while :'));
    expect(body.indexOf('-delete')).toBeLessThan(body.indexOf('systemd-nspawn'));
    expect(body.indexOf('nft flush ruleset')).toBeLessThan(body.indexOf('systemd-nspawn'));
  });
});
