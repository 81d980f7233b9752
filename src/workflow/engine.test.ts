import { describe, expect, test } from 'vitest';
import { Crash } from '../host/fake/fake-files.ts';
import { type FakeHost, fakeHost } from '../host/fake/fake-host.ts';
import { digestOf } from './digest.ts';
import { runStages } from './engine.ts';
import type { WorkflowEvent } from './events.ts';
import { openJournal } from './journal.ts';
import type { Stage } from './stage.ts';

/** A stage that writes one file and is done when the file has the digest the journal remembers. */
function writing(name: string, ran: string[]): Stage<FakeHost> {
  const path = `/w/${name}`;
  return {
    name,
    why: 'a test',
    observe: async (host, last) => {
      const content = await host.files.readIfPresent(path);
      const isDone = last !== undefined && content !== undefined && digestOf(content) === last.outputs[path];
      return isDone ? { status: 'done' } : { status: 'needed', because: 'its output is not there' };
    },
    run: async (host) => {
      ran.push(name);
      await host.files.write(path, name);
      return { outputs: { [path]: digestOf(name) } };
    },
  };
}

async function go(host: FakeHost, stages: readonly Stage<FakeHost>[]): Promise<readonly WorkflowEvent[]> {
  const events: WorkflowEvent[] = [];
  await host.files.makeFolder('/w');
  const journal = await openJournal(host.files, '/w/journal');
  const { signal } = new AbortController();
  await runStages({ stages, context: host, journal, clock: host.clock, emit: (e) => events.push(e), signal });
  return events;
}

describe('the engine', () => {
  test('runs stages in order, and a second run repeats nothing and writes nothing', async () => {
    const host = fakeHost();
    const ran: string[] = [];
    const stages = ['a', 'b', 'c'].map((name) => writing(name, ran));
    await go(host, stages);
    const changes = host.disk.changes;
    const events = await go(host, stages);
    expect(ran).toEqual(['a', 'b', 'c']);
    expect(events.map((event) => event.kind)).toEqual(['stage-unchanged', 'stage-unchanged', 'stage-unchanged']);
    expect(host.disk.changes).toBe(changes);
  });

  test('an altered output is noticed and made again, and only that one', async () => {
    const host = fakeHost();
    const ran: string[] = [];
    const stages = ['a', 'b'].map((name) => writing(name, ran));
    await go(host, stages);
    await host.files.write('/w/b', 'altered');
    await go(host, stages);
    expect(ran).toEqual(['a', 'b', 'b']);
  });

  test('a stage that fails stops the run before the next one and is not recorded as done', async () => {
    const host = fakeHost();
    const ran: string[] = [];
    const first: Stage<FakeHost> = {
      ...writing('a', ran),
      run: async () => {
        throw new Error('it is crooked');
      },
    };
    await expect(go(host, [first, writing('b', ran)])).rejects.toThrow('it is crooked');
    expect(ran).toEqual([]);
    expect((await openJournal(host.files, '/w/journal')).records).toEqual([]);
  });

  test('killed at any change, the next run ends with the same files', async () => {
    const whole = fakeHost();
    await go(
      whole,
      ['a', 'b', 'c'].map((name) => writing(name, [])),
    );
    for (let crashAt = 1; crashAt <= whole.disk.changes; crashAt += 1) {
      const first = fakeHost();
      first.disk.crashAt = crashAt;
      await expect(
        go(
          first,
          ['a', 'b', 'c'].map((name) => writing(name, [])),
        ),
      ).rejects.toBeInstanceOf(Crash);
      delete first.disk.crashAt;
      await go(
        fakeHost({ disk: first.disk }),
        ['a', 'b', 'c'].map((name) => writing(name, [])),
      );
      for (const name of ['a', 'b', 'c']) expect(await first.files.readText(`/w/${name}`)).toBe(name);
    }
  });

  test('an abort between two stages stops there', async () => {
    const host = fakeHost();
    const controller = new AbortController();
    const ran: string[] = [];
    const last = writing('b', ran);
    const first: Stage<FakeHost> = {
      ...writing('a', ran),
      run: async () => {
        controller.abort(new Error('enough'));
        return {};
      },
    };
    await host.files.makeFolder('/w');
    const journal = await openJournal(host.files, '/w/journal');
    const run = runStages({
      stages: [first, last],
      context: host,
      journal,
      clock: host.clock,
      emit: () => {},
      signal: controller.signal,
    });
    await expect(run).rejects.toThrow('enough');
    expect(ran).toEqual([]);
  });
});
