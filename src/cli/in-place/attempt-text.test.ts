import { describe, expect, test } from 'vitest';
import { waitingNodes } from '../../cluster/in-place/observe-attempts.ts';
import { watchedOf } from '../../cluster/in-place/watch-attempts.ts';
import { readAttempt } from '../../contract/in-place.ts';
import { readInPlaceRun } from '../../contract/in-place-run.ts';
import { attemptView } from '../../in-place/attempt-view.ts';
import { changedLines } from '../../screen/frame.ts';
import { attemptFrame, attemptHistoryText, attemptsText, endedText } from './attempt-text.ts';

const second = (count: number): string => new Date(Date.UTC(2026, 0, 1) + count * 1000).toISOString();
const now = new Date(second(30));

function view(node: string, status: object, run?: string) {
  const attemptId = '0a1b2c3d-0000-4000-8000-000000000000';
  const spec = { node, attemptId, os: 'rhcos', notAfter: second(900), clusterId: 'c', ...(run ? { run } : {}) };
  const attempt = readAttempt({ metadata: { name: `${node}.0a1b2c3d` }, spec, status });
  if (attempt === undefined) throw new Error('no attempt');
  return attemptView(attempt);
}

const succeeded = (node: string, run?: string) =>
  view(
    node,
    {
      phase: 'Succeeded',
      history: [
        { phase: 'Scheduled', at: second(0) },
        { phase: 'Preflight', at: second(1) },
        { phase: 'Ready', at: second(4) },
        { phase: 'Succeeded', at: second(14) },
      ],
    },
    run,
  );
const draining = (node: string, run?: string) =>
  view(node, { phase: 'Ready', waitsFor: 'pod shop/web-1', history: [{ phase: 'Ready', at: second(20) }] }, run);
const failed = (node: string, run?: string) =>
  view(
    node,
    {
      phase: 'RolledBack',
      history: [
        { phase: 'Applying', at: second(2) },
        { phase: 'RolledBack', at: second(5) },
      ],
      failure: { phase: 'Applying', code: 'ApplyFailed', message: 'no space left' },
    },
    run,
  );

const run = readInPlaceRun({
  metadata: { name: 'worker.1' },
  spec: { pool: 'worker', nodes: [0, 1, 2].map((n) => ({ name: `worker-${n}`, attemptId: 'a' })) },
  status: { state: 'Running', nodes: [{ node: 'worker-0', attempt: 'a', phase: 'Succeeded' }] },
});
const runs = run === undefined ? [] : [run];

describe('ipb status', () => {
  test('has a line per run and a row per node, with what each waits for or why it ended', () => {
    const attempts = [succeeded('worker-0'), draining('worker-1'), failed('worker-2')];
    const waiting = [{ node: 'worker-3', waitsFor: 'the node to be cordoned: firstlight kubectl cordon worker-3' }];
    expect(attemptsText({ attempts, waiting, runs, now })).toBe(
      [
        'run worker.1 of pool worker: 1 of 3 done, one at a time',
        '',
        'NODE      ATTEMPT   ROUTE  PHASE       TIME    DETAIL',
        'worker-3  -         -      labelled    -       waits for the node to be cordoned: firstlight kubectl cordon worker-3',
        'worker-0  0a1b2c3d  rhcos  Succeeded   14.0 s',
        'worker-1  0a1b2c3d  rhcos  Ready       10.0 s  waits for pod shop/web-1',
        'worker-2  0a1b2c3d  rhcos  RolledBack  3.0 s   ApplyFailed in phase Applying; no space left',
        '',
      ].join('\n'),
    );
  });

  test('says when nothing has moved for a minute', () => {
    const later = new Date(second(110));
    expect(attemptsText({ attempts: [draining('worker-1')], waiting: [], runs: [], now: later })).toContain(
      'waits for pod shop/web-1; nothing has moved for 90.0 s',
    );
  });
});

describe('a node that is labelled and has no attempt', () => {
  const node = (unschedulable: boolean, annotations = {}) => ({
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: 'worker-0', labels: { 'firstlight.dev/ipb-schedule': 'true' }, annotations },
    spec: { unschedulable },
  });
  const secrets = new Set(['ipb-worker-0']);
  const waits = (nodes: readonly ReturnType<typeof node>[], known = secrets) =>
    waitingNodes({ nodes, attempts: [], secrets: known }).map(({ waitsFor }) => waitsFor);

  test.each([
    ['the cordon', node(false), secrets, 'the node to be cordoned: firstlight kubectl cordon worker-0'],
    [
      'its Secret',
      node(true),
      new Set<string>(),
      'the Secret ipb-system/ipb-worker-0: firstlight ipb prepare worker-0',
    ],
    [
      'a new id, after an attempt that ended',
      node(true, { 'ipb.dev/status': '{}' }),
      secrets,
      'a Secret with a new attempt-id: firstlight ipb prepare worker-0',
    ],
    ['the controller', node(true), secrets, 'the controller to begin'],
  ])('waits for %s', (_what, labelled, known, sentence) => {
    expect(waits([labelled], known)).toEqual([sentence]);
  });

  test('is not listed while its attempt runs, nor without the label', () => {
    expect(waitingNodes({ nodes: [node(true)], attempts: [draining('worker-0')], secrets })).toEqual([]);
    const other = { ...node(true), metadata: { name: 'worker-0', labels: { 'firstlight.dev/ipb-schedule': 'no' } } };
    expect(waitingNodes({ nodes: [other], attempts: [], secrets })).toEqual([]);
  });
});

test('a run is one table: done, in work, failed and waiting nodes in its order', () => {
  const attempts = [failed('worker-1', 'worker.1'), succeeded('worker-0', 'worker.1'), draining('worker-1')];
  const watched = watchedOf({ attempts, runs, waiting: [] }, { run: 'worker.1' });
  const frame = attemptFrame(watched, { title: 't', elapsedMs: 0, likely: undefined, now });
  expect(frame.steps.map(({ name, state, note }) => `${name} ${state} ${note}`)).toEqual([
    'worker-0 done Succeeded',
    'worker-1 failed RolledBack: ApplyFailed in phase Applying; no space left',
    'worker-2 waiting waits for its turn',
  ]);
});

test('on a pipe there is a line per phase and per wait, not per report', () => {
  const target = { nodes: new Map([['worker-1', undefined]]) };
  const frameOf = (attempt: ReturnType<typeof view>) =>
    attemptFrame(watchedOf({ attempts: [attempt], runs: [], waiting: [] }, target), {
      title: 't',
      elapsedMs: 0,
      likely: undefined,
      now,
    });
  const event = { seq: 1, step: 's', status: 'progress', bootId: 'b', at: second(9), os: 'rhcos', agentVersion: '1' };
  const applying = (message: string) =>
    view('worker-1', { phase: 'Applying', report: { events: [{ ...event, phase: 'Applying', message }] } });
  expect(changedLines(frameOf(draining('worker-1')), frameOf(applying('12 files')))).toEqual([
    '▸ worker-1: Applying: 12 files',
  ]);
  expect(changedLines(frameOf(applying('12 files')), frameOf(applying('3 units')))).toEqual([]);
});

test('the end says where the time went, and history why it failed', () => {
  const watched = watchedOf(
    { attempts: [succeeded('worker-0')], runs: [], waiting: [] },
    { nodes: new Map([['worker-0', undefined]]) },
  );
  expect(endedText(watched)).toBe('worker-0: Succeeded in 14.0 s\n  Scheduled 1.0 · Preflight 3.0 · Ready 10.0\n');
  expect(attemptHistoryText([succeeded('worker-0'), failed('worker-2')])).toBe(
    [
      'NODE      ATTEMPT   ROUTE  BEGAN                 TOOK    END         DETAIL',
      'worker-2  0a1b2c3d  rhcos  2026-01-01T00:00:02Z  3.0 s   RolledBack  ApplyFailed in phase Applying; no space left',
      'worker-0  0a1b2c3d  rhcos  2026-01-01T00:00:00Z  14.0 s  Succeeded   Scheduled 1.0 · Preflight 3.0 · Ready 10.0',
      '',
    ].join('\n'),
  );
});
