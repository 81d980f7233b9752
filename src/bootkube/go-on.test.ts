import { describe, expect, test } from 'vitest';
import { handoffMark } from '../contract/bootstrap-paths.ts';
import { readPause, writePause } from '../contract/bootstrap-pause.ts';
import { type BootstrapProgress, writeBootstrapProgress } from '../contract/bootstrap-progress.ts';
import { type FakeHost, fakeHost } from '../host/fake/fake-host.ts';
import type { RunResult } from '../host/processes.ts';
import type { WorkflowEvent } from '../workflow/events.ts';
import { continueBootstrap, hasPassed, nextPoint, pauseBootstrap, runNextPoint } from './go-on.ts';
import { holdBefore } from './hold.ts';

const { signal } = new AbortController();

function hostWith(state = 'activating'): FakeHost {
  const result: RunResult = { code: 0, signal: undefined, stdout: `${state}\n`, stderr: '', timedOut: false };
  return fakeHost({ processes: { run: async () => result } });
}

async function report(host: FakeHost, stage: string, state: BootstrapProgress['state'], more = {}): Promise<void> {
  const at = host.clock.now().toISOString();
  await writeBootstrapProgress(host.files, { stage, state, at, isComplete: false, ...more });
}

describe('bootkube is held', () => {
  test('before the stage of the pause, says so once, and goes on when the pause moves behind it', async () => {
    const host = hostWith();
    await writePause(host.files, { before: 'etcd' });
    const events: WorkflowEvent[] = [];
    const hold = (stage: string): Promise<void> =>
      holdBefore(stage, { host, emit: (event) => events.push(event), signal });
    await hold('version-operator');
    expect(events).toEqual([]);
    host.clock.after(3_600_000, () => void writePause(host.files, { before: 'kube-apiserver' }));
    await hold('etcd');
    expect(host.clock.monotonicMs()).toBeGreaterThanOrEqual(3_600_000);
    const text =
      'paused before 7 etcd: firstlight bootkube next runs it, firstlight bootkube continue all that follows';
    expect(events).toEqual([{ kind: 'stage-paused', stage: 'etcd', text }]);
  });

  test('no more once the handoff has begun', async () => {
    const host = hostWith();
    await writePause(host.files, { before: 'manifests' });
    await host.files.write(handoffMark, '');
    await expect(holdBefore('commit', { host, emit: () => {}, signal })).resolves.toBeUndefined();
  });
});

describe('next', () => {
  test('lets one stage run, and ends when the bootstrap is held before the following one', async () => {
    const host = hostWith();
    await writePause(host.files, { before: 'etcd' });
    await report(host, 'etcd', 'paused');
    host.clock.after(1_000, () => void report(host, 'etcd', 'done'));
    host.clock.after(2_000, () => void report(host, 'kube-apiserver', 'paused'));
    expect(await nextPoint({ host })).toBe('etcd');
    expect(await runNextPoint({ host, emit: () => {}, signal }, 'etcd')).toBe('kube-apiserver');
    expect(host.clock.monotonicMs()).toBeGreaterThanOrEqual(2_000);
    expect(await readPause(host.files)).toEqual({ before: 'kube-apiserver' });
  });

  test('says why the stage failed; the service repeats it', async () => {
    const host = hostWith();
    await writePause(host.files, { before: 'etcd' });
    await report(host, 'etcd', 'paused');
    host.clock.after(1_000, () => void report(host, 'etcd', 'failed', { reason: 'no image' }));
    await expect(runNextPoint({ host, emit: () => {}, signal }, 'etcd')).rejects.toMatchObject({
      code: 'BOOTKUBE_STAGE_FAILED',
      message: 'stage 7 etcd failed: no image',
    });
  });

  test('is refused where nothing is held, and where the service that would run the stage is stopped', async () => {
    await expect(nextPoint({ host: hostWith() })).rejects.toMatchObject({ code: 'BOOTKUBE_NOT_PAUSED' });
    const host = hostWith('inactive');
    await writePause(host.files, { before: 'etcd' });
    await expect(runNextPoint({ host, emit: () => {}, signal }, 'etcd')).rejects.toMatchObject({
      code: 'BOOTKUBE_SERVICE_DOWN',
      message: 'bootkube.service does not run: systemd says inactive',
    });
    await expect(continueBootstrap({ host, emit: () => {}, signal })).rejects.toMatchObject({
      code: 'BOOTKUBE_SERVICE_DOWN',
    });
    expect(await readPause(host.files)).toEqual({ before: 'etcd' });
  });

  test.each([
    ['its own stage runs', 'masters', 'running', false],
    ['its own stage is done, the next pause is not reached', 'masters', 'done', false],
    ['it is held before the following stage', 'control-planes', 'paused', true],
    ['a person let it go on meanwhile', 'commit', 'running', true],
    ['a later unit runs', 'add-ons', 'running', true],
  ] as const)('a step is judged by what is reported: %s', (_what, stage, state, isOver) => {
    const at = '2026-01-01T00:00:01Z';
    const step = { point: 'masters', sinceMs: Date.parse('2026-01-01T00:00:00Z') };
    expect(hasPassed({ progress: { stage, state, at, isComplete: false } }, step)).toBe(isOver);
    const old = { progress: { stage, state, at: '2025-12-31T23:59:59Z', isComplete: false } };
    expect(hasPassed(old, step)).toBe(false);
  });

  test('the handoff is one step, and over with its last stage', () => {
    const at = '2026-01-01T00:00:01Z';
    const step = { point: 'handoff', sinceMs: 0 };
    const passed = (stage: string): boolean =>
      hasPassed({ progress: { stage, state: 'done', at, isComplete: false } }, step);
    expect(['commit', 'stop-serving', 'leave-etcd'].map(passed)).toEqual([false, false, true]);
  });
});

describe('a pause', () => {
  test('is set before the next stage, or a later one, never before one that has begun', async () => {
    const host = hostWith();
    expect(await pauseBootstrap(host, undefined)).toBe('manifests');
    await report(host, 'etcd', 'running');
    expect(await pauseBootstrap(host, undefined)).toBe('kube-apiserver');
    expect(await pauseBootstrap(host, 'handoff')).toBe('handoff');
    await expect(pauseBootstrap(host, 'etcd')).rejects.toMatchObject({ code: 'BOOTKUBE_TOO_LATE' });
    expect(await readPause(host.files)).toEqual({ before: 'handoff' });
  });

  test('is gone after continue, which says where it goes on', async () => {
    const host = hostWith();
    await writePause(host.files, { before: 'handoff' });
    expect(await continueBootstrap({ host, emit: () => {}, signal })).toBe('handoff');
    expect(await readPause(host.files)).toBeUndefined();
    expect(await continueBootstrap({ host, emit: () => {}, signal })).toBeUndefined();
  });
});
