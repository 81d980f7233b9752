// Forged and real entries of /proc, against what counts as a process of ours.
import { execFileSync } from 'node:child_process';
import { dirname } from 'node:path';
import { describe, expect, test } from 'vitest';
import { fakeHost } from '../../host/fake/fake-host.ts';
import type { Host } from '../../host/host.ts';
import { enterCommand } from './enter-command.ts';
import { enterableLeader, findProcesses } from './observe-machines.ts';
import { hasRecord, readRecord, signalProcess } from './own-process.ts';

const folder = '/var/lib/firstlight/clusters/demo/machines/a';
const bootId = 'b0071d00-0000-4000-8000-000000000000';
const nspawnArgs = ['systemd-nspawn', '--machine=a.demo', '--boot'];

interface Process {
  readonly pid: number;
  readonly parent?: number;
  readonly startTime?: number;
  readonly program: string;
  readonly args: readonly string[];
  readonly nsPid?: string;
  readonly state?: string;
  readonly name?: string;
}

/** 22 fields are enough: the last one is the start time. */
function statLine({ pid, parent = 1, startTime = 500, state = 'S', name = 'a) R 1 (b' }: Process): string {
  return [pid, `(${name})`, state, parent, ...Array.from({ length: 17 }, () => 0), startTime, 0, 0].join(' ');
}

async function put(host: Host, path: string, content: string): Promise<void> {
  await host.files.makeFolder(dirname(path));
  await host.files.write(path, content);
}

async function hostWith(processes: readonly Process[]): Promise<Host> {
  const host = fakeHost();
  await put(host, '/proc/sys/kernel/random/boot_id', `${bootId}\n`);
  for (const process of processes) {
    const { pid, nsPid = String(pid) } = process;
    await put(host, `/proc/${pid}/stat`, `${statLine(process)}\n`);
    await put(host, `/proc/${pid}/status`, `Name:\tx\nNSpid:\t${nsPid}\n`);
    await put(host, `/proc/${pid}/cmdline`, `${process.args.join('\0')}\0`);
    await host.files.symlink(process.program, `/proc/${pid}/exe`);
    const children = processes.filter((other) => other.parent === pid).map((other) => `${other.pid} `);
    await put(host, `/proc/${pid}/task/${pid}/children`, children.join(''));
  }
  return host;
}

async function record(host: Host, name: string, process: Process, boot = bootId): Promise<void> {
  await put(host, `${folder}/${name}.process`, `${boot}\n${statLine(process)}\n`);
}

const nspawn: Process = { pid: 20, parent: 10, program: '/usr/bin/systemd-nspawn', args: nspawnArgs };
const supervisor: Process = { pid: 10, program: '/bin/dash', args: ['sh', `${folder}/start.sh`] };
const leader: Process = {
  pid: 30,
  parent: 20,
  startTime: 700,
  program: '/usr/lib/systemd/systemd',
  args: ['/usr/lib/systemd/systemd'],
  nsPid: '30\t1',
};

describe('the processes of a machine', () => {
  test('are those that recorded themselves, and their child that is number 1 of its namespace', async () => {
    const host = await hostWith([supervisor, nspawn, leader]);
    await record(host, 'supervisor', supervisor);
    await record(host, 'nspawn', nspawn);
    expect(await findProcesses(host, 'demo', 'a')).toEqual({
      supervisor: { pid: 10, startTime: '500' },
      nspawn: { pid: 20, startTime: '500' },
      leader: { pid: 30, startTime: '700', program: '/usr/lib/systemd/systemd' },
    });
  });

  test('are not others with the same programs, command lines and pids of their own namespace', async () => {
    const host = await hostWith([supervisor, nspawn, leader]);
    expect(await findProcesses(host, 'demo', 'a')).toEqual({});
  });

  test('are not later processes that were given the same pid, nor those of an earlier boot', async () => {
    const host = await hostWith([supervisor, nspawn, leader]);
    await record(host, 'supervisor', { ...supervisor, startTime: 499 });
    await record(host, 'nspawn', nspawn, 'b0071d00-1111-4000-8000-000000000000');
    expect(await findProcesses(host, 'demo', 'a')).toEqual({});
  });

  test('are not those that have ended and are not yet collected', async () => {
    const host = await hostWith([supervisor, { ...nspawn, state: 'Z' }, leader]);
    await record(host, 'nspawn', nspawn);
    expect(await findProcesses(host, 'demo', 'a')).toEqual({});
  });

  test.each<[string, Partial<Process>]>([
    ['is not number 1 of a namespace', { nsPid: '30' }],
    ['is a child of another process', { parent: 21 }],
    ['has not yet become another program than nspawn', { program: '/usr/bin/systemd-nspawn' }],
  ])('have no leader while the candidate %s', async (_, difference) => {
    const host = await hostWith([supervisor, nspawn, { ...leader, ...difference }]);
    await record(host, 'nspawn', nspawn);
    await put(host, '/proc/20/task/20/children', '30 ');
    expect(await findProcesses(host, 'demo', 'a')).toEqual({ nspawn: { pid: 20, startTime: '500' } });
  });

  test('have a leader also where the kernel does not list children', async () => {
    const host = await hostWith([nspawn, leader]);
    await host.files.remove('/proc/20/task');
    await record(host, 'nspawn', nspawn);
    expect((await findProcesses(host, 'demo', 'a')).leader?.pid).toBe(30);
  });

  test('have a leader until it is gone, but no command enters a machine that is nearly down', async () => {
    const host = await hostWith([nspawn, { ...leader, program: '/usr/lib/systemd/systemd-shutdown' }]);
    await record(host, 'nspawn', nspawn);
    const seen = await findProcesses(host, 'demo', 'a');
    expect(seen.leader?.pid).toBe(30);
    expect(enterableLeader(seen)).toBeUndefined();
  });
});

test('a record counts once it is written to its end', async () => {
  const host = await hostWith([nspawn]);
  const file = `${folder}/nspawn.process`;
  for (const text of ['', `${bootId}\n`]) {
    await put(host, file, text);
    expect(await hasRecord(host.files, file)).toBe(false);
  }
  await record(host, 'nspawn', { ...nspawn, startTime: 1 });
  expect(await hasRecord(host.files, file)).toBe(true);
});

test('a signal goes to the process that was seen, not to a later one with its pid', async () => {
  const sent: number[] = [];
  const seen = await hostWith([nspawn]);
  const host = { ...seen, processes: { ...seen.processes, kill: (pid: number) => sent.push(pid) > 0 } };
  await record(host, 'nspawn', nspawn);
  const process = await readRecord(host.files, `${folder}/nspawn.process`);
  if (process === undefined) throw new Error('no process');
  await signalProcess(host, process, 'SIGTERM');
  await put(host, '/proc/20/stat', `${statLine({ ...nspawn, startTime: 501 })}\n`);
  await signalProcess(host, process, 'SIGTERM');
  expect(sent).toEqual([20]);
});

describe('a command', () => {
  const enter = (startTime: string): readonly [string, ...string[]] =>
    enterCommand({ pid: process.pid, startTime }, ['true']);

  test('is refused by the shell when the pid belongs to another process by now', () => {
    const [program, ...args] = enter('1');
    expect(() => execFileSync(program, args, { stdio: 'pipe' })).toThrow('the machine has ended');
  });
});
