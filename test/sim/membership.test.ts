// Thousands of handoffs under chosen faults. A failure names its seed: FIRSTLIGHT_SEED=n runs that one again, step by step.
import { expect, test } from 'vitest';
import { keepMembership } from '../../src/membership/membership-loop.ts';
import type { MembershipStage } from '../../src/membership/move.ts';
import { type Fault, MembershipWorld, Violation } from './membership-world.ts';
import { chance } from './sim-clock.ts';

const isLong = process.env['FIRSTLIGHT_LONG'] === '1';
const limitMs = 30 * 60_000;
const kinds: readonly Fault['kind'][] = [
  'kill',
  'kill',
  'wipe',
  'cut-off',
  'hide',
  'crash',
  'lose-request',
  'lose-reply',
];

/** The faults of a seed: some, at any time of the first half minute, each mended after a while. */
function faultsOf(seed: number): readonly Fault[] {
  const random = chance(seed * 7919 + 1);
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)]!;
  return Array.from({ length: Math.floor(random() * 7) }, () => ({
    kind: pick(kinds),
    atMs: random() * 30_000,
    machine: Math.floor(random() * 6),
    forMs: pick([300, 2000, 10_000, 70_000]) * (0.5 + random()),
  }));
}

/** Runs the loop until the masters alone vote; a crash starts it anew with an empty memory. */
async function handOff(world: MembershipWorld): Promise<void> {
  let stage: MembershipStage = 'growing';
  while (world.clock.monotonicMs() < limitMs) {
    const life = new AbortController();
    world.crash = () => life.abort(new Error('killed'));
    try {
      await keepMembership({
        clients: world.clients,
        clock: world.clock,
        facts: () => world.facts(),
        mayAct: () => true,
        emit: (event) => {
          if (event.kind === 'waiting') stage = event.stage;
          if (stage === 'grown') world.isCommitted = true;
        },
        onLook: (seen) => {
          world.look(seen);
          world.assert(world.clock.monotonicMs() < limitMs, `no end after ${limitMs} ms; the stage is ${stage}`);
        },
        signal: life.signal,
        until: 'steady',
      });
      return;
    } catch (error) {
      if (error instanceof Violation || !life.signal.aborted) throw error;
      await world.clock.sleep(world.random() * 3000);
    }
  }
}

/** Ends as it should: exactly the masters vote, and every step on the way was one member. */
function assertEnd(world: MembershipWorld): void {
  const names = world.model.members.map((member) => `${member.name}${member.isLearner ? ' learns' : ''}`).toSorted();
  world.assert(names.join() === world.masters.map(({ name }) => name).join(), `it ended with ${names.join(', ')}`);
  const counts = world.model.voterCounts;
  const steps = counts.every((count, index) => index === 0 || Math.abs(count - counts[index - 1]!) === 1);
  world.assert(steps, `the voters went ${counts.join(', ')}`);
}

async function run(seed: number, masterCount: number, faults: readonly Fault[]): Promise<MembershipWorld> {
  const world = new MembershipWorld({ seed, masterCount, faults });
  await handOff(world);
  assertEnd(world);
  return world;
}

test.each([
  [1, [1, 2, 1]],
  [3, [1, 2, 3, 4, 3]],
  [5, [1, 2, 3, 4, 5, 6, 5]],
])('without faults %i masters take over in the straightest way', async (masterCount, history) => {
  for (let seed = 0; seed < 50; seed += 1) {
    const world = await run(seed, masterCount, []);
    expect(world.model.voterCounts).toEqual(history);
  }
});

test('under any faults no invariant breaks, and the masters alone vote in the end', async () => {
  const only = process.env['FIRSTLIGHT_SEED'];
  const seeds =
    only === undefined ? Array.from({ length: isLong ? 50_000 : 1500 }, (_, index) => index) : [Number(only)];
  let changes = 0;
  for (const seed of seeds) {
    const world = await run(seed, [3, 3, 5, 1][seed % 4]!, faultsOf(seed));
    changes += world.calls.length;
  }
  expect(changes).toBeGreaterThan(seeds.length);
}, 600_000);

test('two who both believe that they may act still end with one member per master', async () => {
  for (let seed = 0; seed < 200; seed += 1) {
    const world = new MembershipWorld({ seed, masterCount: 3, faults: [] });
    world.isShared = true;
    await Promise.all([handOff(world), world.clock.sleep(world.random() * 2000).then(() => handOff(world))]);
    assertEnd(world);
    expect(world.model.voterCounts).toEqual([1, 2, 3, 4, 3]);
  }
});
