import { describe, expect, test } from 'vitest';
import { readOwnConfig } from '../../config-daemon/adopt-served-config.ts';
import { findDrift } from '../../config-daemon/find-drift.ts';
import { attemptFiles, inPlaceFiles } from '../../contract/in-place.ts';
import { daemonFiles } from '../../contract/machine-config-node.ts';
import { bootstrapKubeconfig, unitFolder } from '../../contract/machine-paths.ts';
import { unitNames } from '../../contract/unit-names.ts';
import type { FakeHost } from '../../host/fake/fake-host.ts';
import {
  type AttemptMachine,
  type AttemptWorld,
  attemptId,
  attemptWorld,
  isCrash,
  newConfig,
  startMachine,
} from './fake-attempt-machine.ts';
import { finishAttempt } from './finish-attempt.ts';
import { readHostAttempt } from './host-state.ts';
import { runAttempt } from './run-attempt.ts';

const quiet = { agentVersion: 'test', log: () => undefined };

async function run({ host, signal }: AttemptMachine) {
  return runAttempt(host, attemptId, { ...quiet, signal });
}

async function finish({ host, signal }: AttemptMachine) {
  return finishAttempt(host, attemptId, { ...quiet, signal });
}

/** What systemd starts at a boot. */
async function bootUnits(host: FakeHost, world: AttemptWorld): Promise<void> {
  for (const name of [unitNames.agent, unitNames.kubelet]) {
    if ((await isEnabled(host, name)) === 'enabled') world.active.add(name);
  }
  // The agent starts the kubelet.
  if (world.active.has(unitNames.agent)) world.active.add(unitNames.kubelet);
}

async function isEnabled(host: FakeHost, name: string): Promise<string> {
  return (await host.processes.run('systemctl', ['is-enabled', name])).stdout.trim();
}

async function wholeRun(world: AttemptWorld): Promise<FakeHost> {
  const first = await startMachine(world);
  await run(first).catch(() => undefined);
  const second = await startMachine(world, first.host.disk);
  await run(second);
  await bootUnits(second.host, world);
  await finish(second);
  return second.host;
}

const phasesOf = ({ events }: AttemptWorld) => [...new Set(events.map(({ phase }) => phase))];

test('an attempt goes through its phases, and the machine has the new configuration and nothing else', async () => {
  const world = attemptWorld();
  const host = await wholeRun(world);
  expect(phasesOf(world)).toEqual([
    'Ready',
    'KubeletStopped',
    'LabelCleared',
    'Applying',
    'Rebooting',
    'Booted',
    'Joining',
  ]);
  expect((await readHostAttempt(host))?.phase).toBe('Succeeded');
  expect((await readOwnConfig(host))?.name).toBe(newConfig.name);
  expect(await findDrift(host, newConfig.spec)).toEqual([]);
  expect(await host.files.readText(bootstrapKubeconfig)).toBe('kubeconfig with a token');
  expect(await host.files.list(inPlaceFiles.folder)).toEqual(['state.json']);
  expect((await host.files.list(unitFolder))?.filter((name) => name.startsWith('ipb'))).toEqual([]);
  expect([world.boot, world.completions]).toEqual([2, ['applied']]);
});

test('the kubelet is stopped before it is reported, and nothing is changed before the label is gone', async () => {
  const seen: string[] = [];
  const world = attemptWorld({
    answer: (phase) => {
      if (phase === 'KubeletStopped')
        seen.push(`kubelet ${world.active.has(unitNames.kubelet) ? 'runs' : 'is stopped'}`);
      return { command: phase === 'KubeletStopped' ? 'cleared' : 'none', phase };
    },
  });
  await run(await startMachine(world)).catch(() => undefined);
  expect(seen[0]).toBe('kubelet is stopped');
});

describe('an attempt that ends before anything is changed gives the machine back as it was', () => {
  async function givenBack(world: AttemptWorld) {
    const machine = await startMachine(world);
    const attempt = await run(machine);
    expect([...world.active].sort()).toEqual(
      [unitNames.agent, `ipb-finish@${attemptId}.service`, unitNames.kubelet].sort(),
    );
    expect([await isEnabled(machine.host, unitNames.agent), await isEnabled(machine.host, unitNames.kubelet)]).toEqual([
      'enabled',
      'enabled',
    ]);
    expect(await machine.host.files.facts(daemonFiles.encapsulated)).toBeUndefined();
    await finish(machine);
    expect(await machine.host.files.facts(attemptFiles(attemptId).folder)).toBeUndefined();
    return attempt;
  }

  test('when the controller never removes the label', async () => {
    const world = attemptWorld({ answer: (phase) => ({ command: 'none', phase }) });
    const { phase, failure } = await givenBack(world);
    expect([phase, failure?.code]).toEqual(['Failed', 'LabelClearTimeout']);
    expect(world.events.at(-1)).toMatchObject({ phase: 'Failed', status: 'failed', code: 'LabelClearTimeout' });
  });

  test('when a person ends it', async () => {
    const answer = (phase: Parameters<AttemptWorld['answer']>[0]) =>
      ({ command: phase === 'KubeletStopped' ? 'abort' : 'none', phase }) as const;
    const { failure } = await givenBack(attemptWorld({ answer }));
    expect(failure).toMatchObject({ phase: 'KubeletStopped', code: 'Aborted' });
  });

  test('when the config server refuses its token', async () => {
    const { phase, failure } = await givenBack(attemptWorld({ refusals: [503, 401] }));
    expect([phase, failure?.phase, failure?.code]).toEqual(['Failed', 'LabelCleared', 'INPLACE_PAYLOAD_REFUSED']);
  });

  test('when the daemon cannot apply the configuration', async () => {
    const { phase, failure } = await givenBack(attemptWorld({ isBroken: true }));
    expect([phase, failure?.phase, failure?.code]).toEqual(['RolledBack', 'Applying', 'NotApplied']);
  });
});

test('a kubelet that does not start after the change is a failure with the last words of the agent', async () => {
  const world = attemptWorld();
  const first = await startMachine(world);
  await run(first).catch(() => undefined);
  const second = await startMachine(world, first.host.disk);
  await run(second);
  const { phase, failure } = await finish(second);
  expect([phase, failure?.phase, failure?.code]).toEqual(['Failed', 'Booted', 'KubeletNotStarted']);
  expect(failure?.message).toContain('the agent said last: waits for its certificate request to be approved');
  expect(world.events.at(-1)).toMatchObject({ phase: 'Failed', code: 'KubeletNotStarted' });
});

test('a second attempt does not begin while the first one is under way', async () => {
  const world = attemptWorld();
  const machine = await startMachine(world);
  await run(machine).catch(() => undefined);
  const state = (await readHostAttempt(machine.host)) ?? expect.fail('no state');
  await machine.host.files.write(inPlaceFiles.state, JSON.stringify({ ...state, attemptId: 'another' }));
  const again = await startMachine(world, machine.host.disk);
  await expect(run(again)).rejects.toThrow(/another is in phase/);
});

describe('killed at any change of the disk, an attempt ends in the same state and applies once', () => {
  /** Runs as systemd would, one start after the other, until the attempt has ended. */
  async function toTheEnd(world: AttemptWorld, crashes: readonly number[], kill: 'unit' | 'power'): Promise<FakeHost> {
    let disk = (await startMachine(world)).host.disk;
    const begin = disk.changes;
    for (let start = 0; start < 12; start += 1) {
      const nodes = new Map([...disk.nodes].map(([path, node]) => [path, { ...node }]));
      const crash = crashes[start];
      disk = {
        nodes,
        changes: begin,
        isFull: false,
        locked: new Set(),
        ...(crash === undefined ? {} : { crashAt: begin + crash }),
      };
      const machine = await startMachine(world, disk);
      try {
        const { phase } = await run(machine);
        if (phase === 'Booted' || phase === 'Joining' || phase === 'Succeeded') {
          await bootUnits(machine.host, world);
          await finish(machine);
          return machine.host;
        }
      } catch (error) {
        if (!isCrash(error)) throw error;
        if (kill === 'power' && disk.crashAt !== undefined && disk.changes >= disk.crashAt - 1) world.boot += 1;
      }
    }
    throw new Error('it does not end');
  }

  test.each(['unit', 'power'] as const)('by the end of its %s', async (kill) => {
    const straight = attemptWorld();
    const reference = await startMachine(straight);
    const before = reference.host.disk.changes;
    await run(reference).catch(() => undefined);
    const changes = reference.host.disk.changes - before;
    expect(changes).toBeGreaterThan(40);
    for (let crash = 1; crash <= changes; crash += 1) {
      const world = attemptWorld();
      const host = await toTheEnd(world, [crash], kill);
      expect((await readHostAttempt(host))?.phase, `crash ${crash}`).toBe('Succeeded');
      expect((await readOwnConfig(host))?.name).toBe(newConfig.name);
      expect(await findDrift(host, newConfig.spec)).toEqual([]);
      expect(world.completions.filter((status) => status === 'applied').length, `crash ${crash}`).toBeLessThan(2);
      expect(await host.files.list(inPlaceFiles.folder)).toEqual(['state.json']);
    }
  });
});
