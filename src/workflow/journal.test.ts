import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isError } from '../errors/firstlight-error.ts';
import { fakeHost } from '../host/fake/fake-host.ts';
import { workflowErrors } from './errors.ts';
import { openJournal } from './journal.ts';

const at = '2026-01-01T00:00:00.000Z';
const path = '/j/journal';

async function written(count: number): Promise<{ host: ReturnType<typeof fakeHost>; bytes: Buffer }> {
  const host = fakeHost();
  await host.files.makeFolder('/j');
  const journal = await openJournal(host.files, path);
  for (let n = 0; n < count; n += 1) await journal.append({ kind: 'note', at, n });
  return { host, bytes: Buffer.from(await host.files.read(path)) };
}

describe('the journal', () => {
  test('gives back what was appended, and creates nothing before the first record', async () => {
    const { host } = await written(3);
    const again = await openJournal(host.files, path);
    expect(again.records.map((record) => record['n'])).toEqual([0, 1, 2]);
    await openJournal(host.files, '/j/other');
    expect(await host.files.facts('/j/other')).toBeUndefined();
  });

  test('appended to by two at once, it keeps one unbroken chain', async () => {
    const host = fakeHost();
    await host.files.makeFolder('/j');
    // A disk that takes its time, and longer for the first line than for the others.
    let turns = 50;
    const openAppend: typeof host.files.openAppend = async (name, options) => {
      const handle = await host.files.openAppend(name, options);
      return {
        append: async (content) => {
          for (let turn = (turns -= 10); turn > 0; turn -= 1) await Promise.resolve();
          await handle.append(content);
        },
        [Symbol.asyncDispose]: () => handle[Symbol.asyncDispose](),
      };
    };
    const journal = await openJournal({ ...host.files, openAppend }, path);
    await Promise.all([0, 1, 2, 3].map((n) => journal.append({ kind: 'note', at, n })));
    expect((await openJournal(host.files, path)).records.map((record) => record['n'])).toEqual([0, 1, 2, 3]);
  });

  test('cut at any byte, it keeps every whole line and goes on', async () => {
    const { bytes } = await written(4);
    for (let cut = 0; cut <= bytes.length; cut += 1) {
      const host = fakeHost();
      await host.files.makeFolder('/j');
      await host.files.write(path, bytes.subarray(0, cut));
      const whole = bytes.subarray(0, cut).toString('utf8').split('\n').length - 1;
      const journal = await openJournal(host.files, path);
      expect(journal.records).toHaveLength(whole);
      await journal.append({ kind: 'note', at, n: 'after' });
      expect((await openJournal(host.files, path)).records).toHaveLength(whole + 1);
    }
  });

  test('a byte changed before the last line is refused and nothing is lost', async () => {
    const { bytes } = await written(4);
    const lastLine = bytes.subarray(0, bytes.length - 1).lastIndexOf(0x0a) + 1;
    await fc.assert(
      fc.asyncProperty(fc.nat(lastLine - 1), fc.integer({ min: 1, max: 255 }), async (offset, flip) => {
        const altered = Buffer.from(bytes);
        altered[offset] = (altered[offset] ?? 0) ^ flip;
        const host = fakeHost();
        await host.files.makeFolder('/j');
        await host.files.write(path, altered);
        const error = await openJournal(host.files, path).then(
          () => undefined,
          (reason: unknown) => reason,
        );
        expect(isError(error, workflowErrors.JOURNAL_CORRUPT)).toBe(true);
        expect(Buffer.from(await host.files.read(path)).equals(altered)).toBe(true);
      }),
      { numRuns: 200 },
    );
  });
});
