import fc from 'fast-check';
import { expect, test } from 'vitest';
import { bodyCopies } from './body-copies.ts';

const before = Buffer.from('{"token":"');
const after = Buffer.from('"}');
const whole = (body: readonly Uint8Array[]): string => Buffer.concat(body).toString();

test('no two answers under way share what was written for one of them, in whatever order they end', () => {
  const step = fc.oneof(
    fc.record({ text: fc.string({ unit: 'grapheme-ascii', minLength: 4, maxLength: 4 }) }),
    fc.nat(50),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const fill = bodyCopies({ before, after, length: 4, mostBytes: 10 * 16 });
      const underWay: { readonly text: string; readonly filled: ReturnType<typeof fill> }[] = [];
      for (const one of steps) {
        if (typeof one !== 'number') underWay.push({ text: one.text, filled: fill(one.text) });
        else {
          const [ended] = underWay.splice(one % (underWay.length || 1), 1);
          ended?.filled.release();
          ended?.filled.release();
        }
        for (const { text, filled } of underWay) expect(whole(filled.body)).toBe(`{"token":"${text}"}`);
      }
    }),
  );
});

test('slow clients cost no copies: beyond the limit the two long pieces are shared', () => {
  const fill = bodyCopies({ before, after, length: 4, mostBytes: 2 * 16 });
  const [, , third] = [fill('aaaa'), fill('bbbb'), fill('cccc')];
  expect(third?.body[0]).toBe(before);
  expect(third?.body[2]).toBe(after);
});
