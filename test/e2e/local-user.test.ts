// Attacks by processes that pretend to be parts of a cluster: of a user of this host who is not root, and of root in
// another machine. No command may enter, count or end them.
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { machinePaths, nspawnName, switchFolder } from '../../src/platform/local/cluster-folder.ts';
import { writeIgnition } from './ignition-file.ts';
import {
  cli,
  eventually,
  hostPicture,
  inside,
  list,
  pidsOf,
  startCli,
  temporaryFolder,
  traces,
} from './machine-lab.ts';

const cluster = `e2e-user-${process.pid}`;
const folder = temporaryFolder();
const services = ['load-balancer', 'apps-balancer', 'host-port', 'name-server'];
/** Seconds that every forged process sleeps: on each of their command lines, and on no other. */
const sign = `1000.${process.pid}`;
const before = hostPicture();

/** Written by the attacker's `env` when somebody runs it. */
const mark = join(folder, 'entered');
const evilEnv = join(folder, 'env');

/** As `nobody`, in namespaces of its own: made by itself where the kernel lets every user do so, else by root. */
const asNobody = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups'];
const isOpen = spawnSync('setpriv', [...asNobody.slice(1), 'unshare', '--user', '--mount', 'true']).status === 0;
const namespaces = ['--mount', '--pid', '--fork'];
const unshare = isOpen ? ['unshare', '--user', '--map-root-user', ...namespaces] : ['unshare', ...namespaces];

/** Runs a bash script as `nobody`. */
function asLocalUser(script: string): void {
  const command = isOpen ? [...asNobody, 'bash', '-c', script] : ['bash', '-c', script];
  const [program = '', ...args] = command;
  spawn(program, args, { stdio: 'ignore', detached: true }).unref();
}

/** As nspawn of the machine would be seen, with a child that would be seen as process 1 of the machine. */
function forgedMachine(machine: string, isInMachine: boolean): string {
  const enter = isInMachine ? ['unshare', ...namespaces] : unshare;
  const [program = '', ...options] = enter;
  const takeOver = isInMachine ? '' : `mount --bind ${evilEnv} "$(command -v env)"; `;
  const leader = `${takeOver}exec -a /usr/lib/systemd/systemd sleep ${sign}`;
  const args = [...options, 'bash', '-c', `'${leader}'`, `--machine=${nspawnName(cluster, machine)}`];
  return `exec -a systemd-nspawn ${program} ${args.join(' ')}`;
}

function forgedProgram(name: string, ...args: readonly string[]): string {
  return `exec -a ${name} bash -c 'sleep ${sign}; :' ${args.join(' ')}`;
}

const configOf = (service: string): string => {
  const files = readdirSync(switchFolder(cluster)).filter((name) => name.endsWith('.conf'));
  return join(switchFolder(cluster), files.find((name) => name.startsWith(`${service}-`)) ?? '');
};
const realPids = (service: string): readonly number[] => {
  const forged = new Set(pidsOf(sign));
  return pidsOf(configOf(service)).filter((pid) => !forged.has(pid));
};

beforeAll(async () => {
  const plain = writeIgnition(join(folder, 'plain.ign'), {});
  writeFileSync(evilEnv, `#!/bin/sh\nid -u >> ${mark}\nexec /bin/busybox env "$@" || exit 0\n`, { mode: 0o755 });
  chmodSync(folder, 0o777);
  await cli('machine', 'create', '--cluster', cluster, '--ignition', plain, 'a', 'b');
});

afterAll(async () => {
  await cli('machine', 'destroy', '--cluster', cluster, '--all');
  for (const pid of pidsOf(sign)) process.kill(pid, 'SIGKILL');
  rmSync(folder, { recursive: true });
});

describe('a user of the host and root of another machine', () => {
  test('pretend to be a stopped machine: it stays stopped, and no command enters them', async () => {
    await cli('machine', 'stop', '--cluster', cluster, 'a');
    asLocalUser(forgedMachine('a', false));
    asLocalUser(forgedProgram('sh', machinePaths(cluster, 'a').startScript));
    await inside(cluster, 'b', `setsid bash -c "${forgedMachine('a', true)}" </dev/null >/dev/null 2>&1 &`);
    await eventually('that all of them run', 10, async () => (pidsOf(sign).length >= 6 ? true : undefined));
    const states = (await list(cluster)).map(({ name, state }) => [name, state]);
    expect(existsSync(mark)).toBe(false);
    expect(states).toEqual([
      ['a', 'stopped'],
      ['b', 'running'],
    ]);
    const { code, stderr } = await startCli(['machine', 'exec', '--cluster', cluster, 'a', '--', 'true']).outcome;
    expect({ code, stderr }).toEqual({ code: 4, stderr: expect.stringContaining('PLATFORM_NOT_RUNNING') as string });
    await cli('machine', 'logs', '--cluster', cluster, 'a');
    expect(existsSync(mark)).toBe(false);
  });

  test('pretend to be load balancer and name server: the real ones are started', async () => {
    for (const pid of services.flatMap(realPids)) process.kill(pid, 'SIGKILL');
    for (const service of services) {
      const program = service === 'name-server' ? ['/coredns', '-conf'] : ['haproxy', '-f'];
      asLocalUser(forgedProgram(program[0] ?? '', program[1] ?? '', configOf(service)));
    }
    const running = (): boolean => services.every((service) => pidsOf(configOf(service)).length > 0);
    await eventually('that all of them run', 10, async () => (running() ? true : undefined));
    await cli('machine', 'start', '--cluster', cluster, 'a');
    expect(services.map((service) => realPids(service).length)).toEqual(services.map(() => 1));
    expect(await inside(cluster, 'a', 'getent hosts b')).toContain(`b.${cluster}`);
    expect((await list(cluster)).map(({ state }) => state)).toEqual(['running', 'running']);
  });

  test('are still there, untouched, when the cluster is destroyed', async () => {
    const users = (): readonly number[] => pidsOf(sign).filter((pid) => ownerOf(pid) === 65534);
    const there = users();
    expect(there.length).toBeGreaterThanOrEqual(5);
    await cli('machine', 'reboot', '--cluster', cluster, 'a');
    await cli('machine', 'destroy', '--cluster', cluster, '--all');
    expect(users()).toEqual(there);
    expect(existsSync(mark)).toBe(false);
    for (const pid of there) process.kill(pid, 'SIGKILL');
    const left = await eventually('a clean host', 5, async () =>
      traces(before, hostPicture()).length === 0 ? [] : undefined,
    ).catch(() => traces(before, hostPicture()));
    expect(left).toEqual([]);
  });
});

function ownerOf(pid: number): number {
  return Number(execFileSync('stat', ['-c', '%u', `/proc/${pid}`], { encoding: 'utf8' }));
}
