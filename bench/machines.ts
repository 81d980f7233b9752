// Figures of the local platform: four machines from a prepared image to systemd `running` with Ignition done, their idle
// memory and disk, a static pod after kubelet's start, and their removal; all through the program, as a person calls it.
// node bench/machines.ts [rounds]
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { secondsToPod, staticPodIgnition, still } from '../test/e2e/static-pod.ts';
import { shown, spread } from './measure.ts';

const rounds = Number(process.argv[2] ?? 5);
const launcher = new URL('../firstlight', import.meta.url).pathname;
const cluster = `bench-${process.pid}`;
const names = ['a', 'b', 'c', 'd'];
/** What logind, journald and the page cache need to come to rest. */
const settleMs = 5_000;

const folder = mkdtempSync(join(tmpdir(), 'firstlight-bench-'));
const ignition = join(folder, 'x.ign');
writeFileSync(
  ignition,
  JSON.stringify({
    ignition: { version: '3.5.0' },
    storage: { files: [{ path: '/etc/hello', mode: 0o644, contents: { source: 'data:,hello' } }] },
    passwd: { users: [{ name: 'core' }] },
    systemd: {
      units: [
        {
          name: 'hello.service',
          enabled: true,
          contents: '[Service]\nExecStart=/bin/sleep infinity\n[Install]\nWantedBy=multi-user.target\n',
        },
      ],
    },
  }),
);

const podIgnition = join(folder, 'pod.ign');
writeFileSync(podIgnition, JSON.stringify(staticPodIgnition({ pods: { still } })));

function timed(...args: readonly string[]): number {
  const startMs = performance.now();
  execFileSync(launcher, [...args, '--cluster', cluster], { stdio: ['ignore', 'ignore', 'inherit'] });
  return (performance.now() - startMs) / 1000;
}

/** What the kernel charges to a machine: its processes, its kernel memory and the page cache it was the first to read. */
function memoryMb(machine: string): number {
  const group = `firstlight/${cluster}/${machine}`;
  const candidates = [`/sys/fs/cgroup/memory/${group}/memory.usage_in_bytes`, `/sys/fs/cgroup/${group}/memory.current`];
  const path = candidates.find((candidate) => existsSync(candidate));
  if (path === undefined) throw new Error(`no memory group of ${machine}`);
  return Number(readFileSync(path, 'utf8')) / 1e6;
}

/** What a machine takes of the disk beside what all machines share. */
function diskMb(): readonly number[] {
  const text = execFileSync(launcher, ['machine', 'list', '--disk', '-o', 'json', '--cluster', cluster]);
  return (JSON.parse(text.toString('utf8')) as { diskBytes: number }[]).map(({ diskBytes }) => diskBytes / 1e6);
}

const creation: number[] = [];
const disk: number[] = [];
const removal: number[] = [];
const memory: number[] = [];
const pods: number[] = [];
try {
  for (let round = 0; round < rounds; round += 1) {
    creation.push(timed('machine', 'create', '--ignition', ignition, ...names));
    await new Promise((done) => setTimeout(done, settleMs));
    memory.push(...names.map(memoryMb));
    disk.push(...diskMb());
    removal.push(timed('machine', 'destroy', '--all'));
    timed('machine', 'create', '--ignition', podIgnition, 'pod');
    pods.push(await secondsToPod(cluster, 'pod'));
    timed('machine', 'destroy', '--all');
  }
  const host = `${cpus().length} × ${cpus()[0]?.model}, load ${loadavg()[0]?.toFixed(1)}`;
  console.log(`${new Date().toISOString()}, ${host}, ${rounds} rounds of ${names.length} machines\n`);
  console.log(`created, running, configured  ${shown(spread(creation), 's', 2).padEnd(30)} target ≤ 6 s`);
  console.log(`idle memory of one            ${shown(spread(memory), 'MB').padEnd(30)} target ≤ 60 MB`);
  console.log(`disk of one, idle             ${shown(spread(disk), 'MB', 1)}`);
  console.log(`static pod after kubelet      ${shown(spread(pods), 's', 2).padEnd(30)} target ≤ 2 s`);
  console.log(`destroyed                     ${shown(spread(removal), 's', 2).padEnd(30)} target ≤ 4 s`);
} finally {
  execFileSync(launcher, ['machine', 'destroy', '--all', '--cluster', cluster], { stdio: 'ignore' });
  rmSync(folder, { recursive: true, force: true });
}
