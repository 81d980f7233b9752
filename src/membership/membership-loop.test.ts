import { expect, test } from 'vitest';
import { MembershipWorld } from '../../test/sim/membership-world.ts';
import { waitingFor } from '../contract/missing.ts';
import type { MembershipEvent } from './membership-events.ts';
import { keepMembership, type MembershipLoop } from './membership-loop.ts';

/** Runs the loop in a simulated world until it ends by itself or `forMs` have passed there. */
async function keep(world: MembershipWorld, forMs: number, change: Partial<MembershipLoop> = {}) {
  const events: MembershipEvent[] = [];
  const over = new AbortController();
  world.clock.after(forMs, () => over.abort(new Error('time is up')));
  const ended = await keepMembership({
    clients: world.clients,
    clock: world.clock,
    facts: () => world.facts(),
    mayAct: () => true,
    emit: (event) => events.push(event),
    onLook: (seen) => world.look(seen),
    signal: over.signal,
    ...change,
  }).then(
    () => 'reached',
    (error: unknown) => String(error),
  );
  return { events, ended };
}

const world = (faults: ConstructorParameters<typeof MembershipWorld>[0]['faults'] = []) =>
  new MembershipWorld({ seed: 1, masterCount: 3, faults });

test('who may not act stands by and touches nothing', async () => {
  const quiet = world();
  const { events } = await keep(quiet, 10_000, { mayAct: () => false });
  expect(quiet.calls).toEqual([]);
  expect(events).toEqual([{ kind: 'standing-by' }]);
});

test('who stands by and waits for a stage sees another reach it, and does nothing itself', async () => {
  const shared = world();
  const [acting, watching] = await Promise.all([
    keep(shared, 60_000, { until: 'grown' }),
    keep(shared, 60_000, { until: 'grown', mayAct: () => false }),
  ]);
  expect([acting.ended, watching.ended]).toEqual(['reached', 'reached']);
  const kinds = watching.events.map(({ kind }) => kind);
  expect(kinds[0]).toBe('standing-by');
  expect(kinds).not.toContain('moved');
  expect(kinds).not.toContain('withheld');
});

test('who loses the right between look and call does not call', async () => {
  const quiet = world();
  let asked = 0;
  const { events } = await keep(quiet, 10_000, { mayAct: () => (asked += 1) % 2 === 1 });
  expect(quiet.calls).toEqual([]);
  const why = events.flatMap((event) => (event.kind === 'withheld' ? event.why : []));
  expect(new Set(why)).toEqual(new Set(['another machine looks after the members now']));
});

test('the loop returns at the stage it was asked for, and not before', async () => {
  const growing = world();
  const { ended, events } = await keep(growing, 60_000, { until: 'grown' });
  expect(ended).toBe('reached');
  expect(growing.model.voters).toHaveLength(4);
  expect(events.at(-1)).toEqual({
    kind: 'waiting',
    stage: 'grown',
    missing: [
      waitingFor('the list of etcd endpoints', 'to name exactly the masters'),
      waitingFor('the handoff', 'to be recorded as complete'),
    ],
  });
});

test('the end is proven by two masters, and told once', async () => {
  const whole = world();
  whole.isCommitted = true;
  const { events } = await keep(whole, 200_000);
  const gone = events.filter((event) => event.kind === 'bootstrap-gone');
  expect(gone).toEqual([{ kind: 'bootstrap-gone', confirmedBy: ['master-0', 'master-1', 'master-2'] }]);
});

test('the five seconds that etcd asks for are told once and are not overdue', async () => {
  const whole = world();
  whole.isCommitted = true;
  const { events } = await keep(whole, 60_000, { until: 'steady' });
  const refused = events.filter((event) => event.kind === 'refused' && event.outcome === 'unhealthy-cluster');
  expect(refused).toMatchObject([{ move: { kind: 'remove', node: 'bootstrap' }, isOverdue: false }]);
});

test('waiting is told only when what is missing changes', async () => {
  const { events } = await keep(world([{ kind: 'kill', machine: 0, atMs: 0, forMs: 60_000 }]), 50_000);
  const waiting = events.flatMap((event) => (event.kind === 'waiting' ? JSON.stringify(event) : []));
  expect(waiting.length).toBeGreaterThan(0);
  expect(waiting.every((text, index) => text !== waiting[index - 1])).toBe(true);
});

test('a hint that something changed cuts a pause short', async () => {
  const woken = world();
  let looks = 0;
  let wakes = 0;
  const { ended } = await keep(woken, 3000, {
    facts: () => ({ ...woken.facts(), masters: [] }),
    onLook: () => {
      looks += 1;
    },
    wake: async (signal) => {
      wakes += 1;
      await woken.clock.sleep(10, signal);
    },
  });
  expect(ended).toBe('Error: time is up');
  expect(looks).toBeGreaterThan(100);
  expect(wakes).toBeGreaterThan(100);
});
