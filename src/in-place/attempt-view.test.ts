import { expect, test } from 'vitest';
import { readAttempt } from '../contract/in-place.ts';
import { attemptView, endReason, newestOfEachNode, stillFor } from './attempt-view.ts';

const second = (count: number): string => new Date(Date.UTC(2026, 0, 1) + count * 1000).toISOString();

function view(status: object, more: { readonly node?: string; readonly attemptId?: string } = {}) {
  const { node = 'worker-0', attemptId = 'a1' } = more;
  const spec = { node, attemptId, os: 'rhcos', notAfter: second(900), clusterId: 'c' };
  const attempt = readAttempt({ metadata: { name: `${node}.${attemptId}` }, spec, status });
  if (attempt === undefined) throw new Error('no attempt');
  return attemptView(attempt);
}

const event = (seq: number, phase: string, message: string) => ({
  seq,
  phase,
  step: 's',
  status: 'progress',
  message,
  bootId: 'b',
  at: second(seq),
  os: 'rhcos',
  agentVersion: '1',
});

test('an attempt that nobody has begun has no times', () => {
  expect(view({})).toMatchObject({ phase: 'Scheduled', startedAt: null, movedAt: null, tookMs: 0, isEnded: false });
});

test('each phase is there once, from the record of the controller where it has one, with how long it took', () => {
  const { phases, tookMs } = view({
    phase: 'Succeeded',
    history: [
      { phase: 'Scheduled', at: second(0) },
      { phase: 'Preflight', at: second(2) },
      { phase: 'Applying', at: second(9) },
      { phase: 'Succeeded', at: second(20) },
    ],
    report: {
      phases: [
        { phase: 'Applying', at: second(8), bootId: 'b' },
        { phase: 'Booted', at: second(15), bootId: 'c' },
      ],
    },
  });
  expect(phases).toEqual([
    { phase: 'Scheduled', at: second(0), ms: 2_000 },
    { phase: 'Preflight', at: second(2), ms: 7_000 },
    { phase: 'Applying', at: second(9), ms: 6_000 },
    { phase: 'Booted', at: second(15), ms: 5_000 },
    { phase: 'Succeeded', at: second(20), ms: null },
  ]);
  expect(tookMs).toBe(20_000);
});

test('the machine may be ahead of the controller, but only the controller says that it has ended', () => {
  const history = [{ phase: 'Scheduled', at: second(0) }];
  const ahead = { phase: 'KubeletStopped', history, report: { events: [event(5, 'Applying', 'writes 12 files')] } };
  expect(view(ahead)).toMatchObject({ phase: 'Applying', said: 'writes 12 files', movedAt: second(5) });
  const behind = { phase: 'Restoring', history, report: { events: [event(5, 'Joining', 'x')] } };
  expect(view(behind).phase).toBe('Restoring');
  expect(view({ phase: 'Applying', report: { events: [event(5, 'RolledBack', 'x')] } }).phase).toBe('Applying');
});

test('nothing moves: only after a minute, and never after its end', () => {
  const running = view({ phase: 'Ready', history: [{ phase: 'Ready', at: second(0) }] });
  expect(stillFor(running, new Date(second(59)))).toBeUndefined();
  expect(stillFor(running, new Date(second(75)))).toBe(75_000);
  const ended = view({ phase: 'Failed', history: [{ phase: 'Failed', at: second(0) }] });
  expect(stillFor(ended, new Date(second(75)))).toBeUndefined();
});

test('why it ended names every check that failed, or the code and the phase', () => {
  const preflight = [
    { id: 'P01', outcome: 'failed', message: 'IPB-P01 expired' },
    { id: 'P02', outcome: 'ok', message: 'fine' },
    { id: 'P10', outcome: 'failed', message: 'IPB-P10 registry r -> 503' },
  ];
  expect(endReason(view({ phase: 'PreflightFailed', report: { preflight } }))).toBe(
    'IPB-P01 expired; IPB-P10 registry r -> 503',
  );
  const failure = { phase: 'KubeletStopped', code: 'LabelClearTimeout', message: 'nobody cleared the label' };
  expect(endReason(view({ phase: 'Failed', failure }))).toBe(
    'LabelClearTimeout in phase KubeletStopped; nobody cleared the label',
  );
  expect(endReason(view({ phase: 'Failed', isAborted: true }))).toBe('it was aborted');
});

test('of each node the newest attempt counts, and one that has not begun is the newest', () => {
  const begun = (attemptId: string, at: number, node?: string) =>
    view({ history: [{ phase: 'Scheduled', at: second(at) }] }, { attemptId, ...(node === undefined ? {} : { node }) });
  const list = [begun('a2', 9), view({}, { attemptId: 'a3' }), begun('a1', 1), begun('b1', 3, 'worker-10')];
  expect(newestOfEachNode(list).map(({ name }) => name)).toEqual(['worker-0.a3', 'worker-10.b1']);
});
