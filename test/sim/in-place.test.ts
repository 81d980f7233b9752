// Attempts in place under chosen faults: controllers that are killed at every write or overlap, reports that are lost,
// power that is cut, and people who label again, order again, relabel, taint, abort and delete nodes. A failure names
// its seed: FIRSTLIGHT_SEED=n runs that one again.
import { describe, expect, test } from 'vitest';
import { isEnd } from '../../src/in-place/phases.ts';
import type { MachineOdds } from './in-place-machine.ts';
import { InPlaceWorld } from './in-place-world.ts';

const calm: MachineOdds = { losesReport: 0, losesPower: 0, failsPreflight: 0, failsApply: 0 };
const hourMs = 3_600_000;
const first = 'aaaaaaaa-1';
const second = 'bbbbbbbb-2';

async function oneAttempt(world: InPlaceWorld): Promise<void> {
  world.order('w1', first);
  world.start('w1');
}

const phaseOf = (world: InPlaceWorld, attemptId = first) =>
  world.attempts.find(({ spec }) => spec.attemptId === attemptId)?.status.phase;

describe('an attempt', () => {
  test('goes from label to uncordon, and the API shows in which order', async () => {
    const world = new InPlaceWorld({ seed: 1, odds: calm, nodes: ['w1'] });
    void world.control(Number.POSITIVE_INFINITY);
    await oneAttempt(world);
    expect(await world.settle(hourMs)).toBe(true);
    const [attempt] = world.attempts;
    expect(attempt?.status.history.map(({ phase }) => phase)).toEqual([
      'Scheduled',
      'Preflight',
      'Ready',
      'KubeletStopped',
      'LabelCleared',
      'Applying',
      'Rebooting',
      'Booted',
      'Joining',
      'Restoring',
      'Succeeded',
    ]);
    const boots = world.api.log.filter(({ resource, object }) => resource === 'nodes' && isNewBoot(object));
    const cleared = Number(attempt?.status.cleared?.version);
    expect(Number(boots[0]?.object.metadata.resourceVersion)).toBeGreaterThan(cleared);
    expect(world.node('w1')?.metadata.labels).toEqual({
      'kubernetes.io/hostname': 'w1',
      'node-role.kubernetes.io/worker': '',
      app: 'a',
      team: 't',
    });
    expect(world.node('w1')?.['spec']).toEqual({ taints: [{ key: 'dedicated', value: 'x', effect: 'NoSchedule' }] });
    expect([...world.violations, ...world.leftovers()]).toEqual([]);
    await world.end();
  });

  test('by payload has two stages with a reboot between them, and its kubelet is held until the second is done', async () => {
    const world = new InPlaceWorld({ seed: 2, odds: calm, nodes: ['w1'], os: 'rhel' });
    void world.control(Number.POSITIVE_INFINITY);
    await oneAttempt(world);
    expect(await world.settle(hourMs)).toBe(true);
    expect(world.attempts[0]?.status.history.map(({ phase }) => phase).slice(5)).toEqual([
      'Applying',
      'BaseDone',
      'Rebooting2',
      'KubeApplying',
      'Booted',
      'Joining',
      'Restoring',
      'Succeeded',
    ]);
    expect([world.applies(first), world.applies(first, 'KubeApplying')]).toEqual([1, 1]);
    expect([...world.violations, ...world.leftovers()]).toEqual([]);
    await world.end();
  });

  const writes = Array.from({ length: 45 }, (_, n) => n + 1);
  test.each(writes)('ends the same way when its controller is killed at write %i', async (write) => {
    const world = new InPlaceWorld({ seed: write, odds: calm, nodes: ['w1'] });
    await oneAttempt(world);
    void world.control(write).then(() => world.control(Number.POSITIVE_INFINITY));
    const isSettled = await world.settle(hourMs);
    const seen = [isSettled, phaseOf(world), world.applies(first), ...world.violations, ...world.leftovers()];
    expect(seen).toEqual([true, 'Succeeded', 1]);
    await world.end();
  });

  test('keeps what somebody changed meanwhile, and gets back what was lost', async () => {
    const world = new InPlaceWorld({ seed: 3, odds: calm, nodes: ['w1'] });
    void world.control(Number.POSITIVE_INFINITY);
    await oneAttempt(world);
    await until(world, () => phaseOf(world) === 'Applying');
    world.api.patch('nodes', 'w1', { metadata: { labels: { app: null, team: 'other', added: 'x' } } });
    expect(await world.settle(hourMs)).toBe(true);
    expect(world.node('w1')?.metadata.labels).toMatchObject({ app: 'a', team: 'other', added: 'x' });
    expect([phaseOf(world), ...world.violations, ...world.leftovers()]).toEqual(['Succeeded']);
    await world.end();
  });

  test('is given back whole when somebody deletes its Node', async () => {
    const world = new InPlaceWorld({ seed: 4, odds: calm, nodes: ['w1'] });
    void world.control(Number.POSITIVE_INFINITY);
    await oneAttempt(world);
    await until(world, () => phaseOf(world) === 'Applying');
    world.api.delete('nodes', 'w1');
    expect(await world.settle(hourMs)).toBe(true);
    expect(world.node('w1')?.metadata.labels).toMatchObject({ app: 'a', team: 't' });
    expect([phaseOf(world), ...world.violations, ...world.leftovers()]).toEqual(['Succeeded']);
    await world.end();
  });

  test('that is labelled again while it runs is not started twice', async () => {
    const world = new InPlaceWorld({ seed: 5, odds: calm, nodes: ['w1'] });
    void world.control(Number.POSITIVE_INFINITY);
    await oneAttempt(world);
    await until(world, () => phaseOf(world) === 'Applying');
    world.start('w1');
    expect(await world.settle(hourMs)).toBe(true);
    expect([phaseOf(world), world.attempts.length, world.applies(first)]).toEqual(['Succeeded', 1, 1]);
    const events = world.api.all('events').map((event) => String(event['message']));
    expect(events.some((message) => message.includes('set again'))).toBe(true);
    await world.end();
  });
});

const isNewBoot = (object: object): boolean => JSON.stringify(object).includes('w1-boot-2');

async function until(world: InPlaceWorld, holds: () => boolean): Promise<void> {
  for (let n = 0; n < 10_000 && !holds(); n += 1) await world.host.clock.sleep(50);
  expect(holds()).toBe(true);
}

const isLong = process.env['FIRSTLIGHT_LONG'] === '1';
const chosen = process.env['FIRSTLIGHT_SEED'];
const seeds = chosen === undefined ? Array.from({ length: isLong ? 2_000 : 100 }, (_, n) => n + 1) : [Number(chosen)];

const faulty: MachineOdds = { losesReport: 0.15, losesPower: 0.003, failsPreflight: 0.05, failsApply: 0.05 };

/** Whatever people do at any moment. */
function meddle(world: InPlaceWorld): void {
  const acts: readonly (() => void)[] = [
    () => world.start('w1'),
    () => world.order('w1', second),
    () => world.abort('w1', first),
    () => void world.api.patch('nodes', 'w1', { metadata: { labels: { app: null } } }),
    () => void world.api.patch('nodes', 'w1', { metadata: { labels: { team: 'other' } } }),
    () => void world.api.patch('nodes', 'w1', { spec: { unschedulable: null } }),
    () => void world.api.delete('nodes', 'w1'),
  ];
  const act = acts[Math.floor(world.chance() * acts.length)];
  world.host.clock.after(world.chance() * 60_000, () => act?.());
}

test.each(seeds)('under the faults of seed %i attempts are applied once at most, and always end', async (seed) => {
  // Every third seed takes the route by payload, which has two stages and a reboot between them.
  const world = new InPlaceWorld({ seed, odds: faulty, nodes: ['w1'], os: seed % 3 === 0 ? 'rhel' : 'rhcos' });
  await oneAttempt(world);
  for (let n = 0; n < 4; n += 1) if (world.chance() < 0.4) meddle(world);
  // Two controllers at a time: the Lease allows one, but what if it did not?
  const reign = async (): Promise<void> => {
    for (let n = 0; n < 4; n += 1) {
      await world.control(1 + Math.floor(world.chance() * 40));
      await world.host.clock.sleep(world.chance() * 20_000);
    }
    await world.control(Number.POSITIVE_INFINITY);
  };
  void reign();
  if (world.chance() < 0.3) void reign();
  const isSettled = await world.settle(6 * hourMs);
  const running = world.attempts.filter(({ status }) => !isEnd(status.phase)).map(({ name }) => name);
  const twice = [first, second].filter((id) => world.applies(id) > 1);
  const seen = [isSettled, ...running, ...twice, ...world.violations, ...world.leftovers()];
  expect(seen).toEqual([true]);
  await world.end();
});

test('a run goes from node to node, and two failures in a row stop the line', async () => {
  const nodes = ['w1', 'w2', 'w3', 'w4'];
  const good = new InPlaceWorld({ seed: 7, odds: calm, nodes });
  good.run('r1', nodes);
  void good.control(20).then(() => good.control(Number.POSITIVE_INFINITY));
  expect(await good.settle(hourMs)).toBe(true);
  expect(good.api.find('inplaceruns', 'r1')?.['status']).toMatchObject({
    state: 'Succeeded',
    message: '4 of 4 succeeded',
  });
  expect([...good.violations, ...good.leftovers()]).toEqual([]);
  await good.end();

  const bad = new InPlaceWorld({ seed: 8, odds: { ...calm, failsApply: 1 }, nodes });
  bad.run('r1', nodes);
  void bad.control(Number.POSITIVE_INFINITY);
  expect(await bad.settle(hourMs)).toBe(true);
  expect(bad.api.find('inplaceruns', 'r1')?.['status']).toMatchObject({
    state: 'Stopped',
    nodes: [
      { node: 'w1', phase: 'RolledBack' },
      { node: 'w2', phase: 'RolledBack' },
    ],
  });
  expect(bad.attempts.length).toBe(2);
  await bad.end();
});
