import { expect, test } from 'vitest';
import { fakeAgent } from '../../test/sim/agent-fixture.ts';
import { missingText, waitingFor } from '../contract/missing.ts';
import { acted, type Duty, type DutyOutcome, settled, waiting } from './duty.ts';
import { agentErrors } from './errors.ts';
import { type DutyReport, runDuties } from './run-duties.ts';

const duty = (name: string, run: () => DutyOutcome | Promise<DutyOutcome>, change: Partial<Duty> = {}): Duty => ({
  name,
  roles: ['master'],
  needs: [],
  run: async () => run(),
  ...change,
});

async function runFor(ms: number, duties: readonly Duty[], agent = fakeAgent()): Promise<readonly DutyReport[]> {
  const stop = new AbortController();
  const reports: DutyReport[] = [];
  agent.host.clock.after(ms, () => stop.abort(new Error('time is up')));
  const running = runDuties({ duties, agent, signal: stop.signal, onChange: (report) => reports.push(report) });
  await expect(running).rejects.toThrow('time is up');
  return reports;
}

const told = (reports: readonly DutyReport[]): readonly string[] =>
  reports.map(({ duty: name, outcome }) => `${name} ${outcome.status}`);

test('a duty runs when those it needs were settled once, and a breath later', async () => {
  const agent = fakeAgent();
  const startMs = agent.host.clock.monotonicMs();
  let looks = 0;
  const first = duty('first', () => ((looks += 1) < 3 ? waiting(waitingFor('patience')) : settled()));
  let ranAtMs = 0;
  const second = duty(
    'second',
    () => {
      ranAtMs ||= agent.host.clock.monotonicMs() - startMs;
      return settled();
    },
    { needs: ['first'] },
  );
  const reports = await runFor(60_000, [first, second], agent);
  expect(told(reports)).toEqual(['second waiting', 'first waiting', 'first settled', 'second settled']);
  expect(ranAtMs).toBe(2_050);
});

test('what the world refuses is waited for by name, and a mistake of ours in one duty ends no other', async () => {
  const reports = await runFor(10_000, [
    duty('refused', () => {
      throw agentErrors.COMMAND({ command: 'ip route', reason: 'no such device' });
    }),
    duty('broken', () => {
      throw new TypeError('x is undefined');
    }),
    duty('fine', () => settled()),
  ]);
  const missing = reports.flatMap(({ outcome }) =>
    outcome.status === 'waiting' ? outcome.missing.map(missingText) : [],
  );
  expect(missing[0]).toBe('ip route failed: no such device (AGENT_COMMAND)');
  expect(missing[1]).toMatch(/^a correction of firstlight itself: TypeError: x is undefined/);
  expect(told(reports)).toContain('fine settled');
});

test('a duty that hangs delays no other', async () => {
  const agent = fakeAgent();
  const hangs = duty('hangs', async () => {
    await agent.host.clock.sleep(6_000);
    return settled();
  });
  const reports = await runFor(5_000, [hangs, duty('fine', () => settled())], agent);
  expect(told(reports)).toEqual(['fine settled']);
});

test('a duty that acts for ever is not repeated without a pause', async () => {
  let looks = 0;
  await runFor(10_000, [duty('restless', () => acted(`change ${(looks += 1)}`))]);
  expect(looks).toBeLessThan(30);
});

test('a settled duty is looked at seldom, and at once when the bell rings', async () => {
  const agent = fakeAgent();
  const looksMs: number[] = [];
  agent.host.clock.after(7_500, () => agent.doorbell.ring());
  await runFor(50_000, [duty('calm', () => (looksMs.push(agent.host.clock.monotonicMs()), settled()))], agent);
  expect(looksMs.filter((ms) => ms > 0)).toEqual([7_500, 37_500]);
});

test('a duty that ignores rings when settled hears the doorbell only until then', async () => {
  const agent = fakeAgent();
  let looks = 0;
  const ringAtMs = [500, 8_000, 9_000];
  for (const ms of ringAtMs) agent.host.clock.after(ms, () => agent.doorbell.ring());
  const run = (): DutyOutcome => ((looks += 1) < 2 ? waiting(waitingFor('a ring')) : settled());
  await runFor(20_000, [duty('ignoring', run, { ignoresRingsWhenSettled: true, tickMs: 5_000 })], agent);
  expect(looks).toBe(2);
});
