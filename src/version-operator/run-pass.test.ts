import { describe, expect, test } from 'vitest';
import { fakeHost } from '../host/fake/fake-host.ts';
import type { PayloadTask } from './payload.ts';
import { type PassOptions, type PassProgress, runPass } from './run-pass.ts';
import { type TaskFailure, taskFailure } from './task-failure.ts';
import { paces } from './task-graph.ts';

function task(source: string): PayloadTask {
  return {
    source,
    level: 0,
    component: 'x',
    object: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: source } },
  };
}

const [a, b, c, d] = ['a', 'b', 'c', 'd'].map(task) as [PayloadTask, PayloadTask, PayloadTask, PayloadTask];
const failed = (of: PayloadTask, more: Partial<TaskFailure> = {}): TaskFailure =>
  taskFailure(of, { reason: 'UpdatePayloadFailed', message: 'no', ...more });

interface Seen {
  readonly result: PassProgress;
  readonly applied: readonly string[];
  readonly progress: readonly PassProgress[];
  readonly tookMs: number;
}

/** `fails`: what a task says at its nth try. */
async function pass(
  graph: PassOptions['graph'],
  fails: (task: PayloadTask, tries: number) => TaskFailure | undefined,
  more: Partial<PassOptions> = {},
): Promise<Seen> {
  const { clock } = fakeHost();
  const applied: string[] = [];
  const progress: PassProgress[] = [];
  const result = await runPass({
    graph,
    pace: paces.Initializing,
    clock,
    announce: async () => {},
    apply: async (each) => {
      applied.push(each.source);
      return fails(each, applied.filter((source) => source === each.source).length);
    },
    signal: new AbortController().signal,
    onProgress: (seen) => progress.push(seen),
    ...more,
  });
  return { result, applied, progress, tookMs: clock.monotonicMs() };
}

describe('a pass', () => {
  test('does every task of a chain in order, and the steps one after the other', async () => {
    const { applied, result } = await pass([[[a, b]], [[c], [d]]], () => undefined);
    expect(applied).toEqual(['a', 'b', 'c', 'd']);
    expect(result).toEqual({ done: 4, total: 4, failures: [], isThrough: true });
  });

  test('tries four times with pauses of 1, 2 and 4 s, and keeps back only what is behind', async () => {
    const { applied, result, tookMs } = await pass([[[a, b], [c]], [[d]]], (each) =>
      each === a ? failed(a) : undefined,
    );
    expect(applied).toEqual(['a', 'c', 'a', 'a', 'a']);
    expect(tookMs).toBe(7_000);
    expect(result).toMatchObject({ done: 1, total: 4, isThrough: true, failures: [{ source: 'a' }] });
  });

  test('says nothing of a failure that a further try cures, but says what is waited for', async () => {
    const seen = await pass([[[a], [b]]], (each, tries) =>
      tries > 1 ? undefined : failed(each, each === a ? {} : { effect: 'wait' }),
    );
    const said = new Set(seen.progress.flatMap(({ failures }) => failures.map(({ source }) => source)));
    expect([...said]).toEqual(['b']);
    expect(seen.result.failures).toEqual([]);
  });

  test('tries once what no try can cure, and goes on where it does not block', async () => {
    const { applied, result } = await pass([[[a, b]]], (each) =>
      each === a ? failed(a, { isFinal: true, blocks: false }) : undefined,
    );
    expect(applied).toEqual(['a', 'b']);
    expect(result).toMatchObject({ done: 1, failures: [{ source: 'a' }] });
  });

  test('has been through as soon as everything was tried once', async () => {
    const { progress } = await pass([[[a], [b]]], (each) => (each === a ? failed(a) : undefined));
    expect(progress.map(({ isThrough }) => isThrough)).toEqual([false, true, true, true, true]);
  });

  test('never has more chains under way than workers', async () => {
    let under = 0;
    let most = 0;
    const { clock } = fakeHost();
    const chains = Array.from({ length: 9 }, (_, at) => [task(String(at))]);
    const apply = async (): Promise<undefined> => {
      under += 1;
      most = Math.max(most, under);
      await clock.sleep(10);
      under -= 1;
    };
    await pass([chains], () => undefined, { apply, pace: paces.Reconciling, clock });
    expect(most).toBe(paces.Reconciling.workers);
  });

  test('is given up when it takes too long, and has then not been through', async () => {
    const { clock } = fakeHost();
    const apply = async (_task: PayloadTask, signal: AbortSignal): Promise<undefined> => {
      await clock.sleep(100_000, signal);
    };
    const { result } = await pass([[[a, b]]], () => undefined, { apply, clock });
    expect(result).toMatchObject({ done: 1, total: 2, isThrough: false });
  });

  test('ends with the reason of its signal', async () => {
    const { clock } = fakeHost();
    const stop = new AbortController();
    clock.after(1_500, () => stop.abort(new Error('the ClusterVersion has changed')));
    const running = pass([[[a]]], () => failed(a), { clock, signal: stop.signal });
    await expect(running).rejects.toThrow('the ClusterVersion has changed');
    expect(clock.monotonicMs()).toBe(1_500);
  });
});
