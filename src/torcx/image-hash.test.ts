import { describe, expect, test } from 'vitest';
import { hasHash, parseImageHash } from './image-hash.ts';

describe('a hash', () => {
  const ofTest = `sha512-0e3e75234abc68f4378a86b3f4b32a198ba301845b0cd6e50106e874345700cc6663a86c1ea125dc5e92be17c98f9a0f85ca9d5f595db2012f7cc3571945c123`;
  async function* content(value: string) {
    yield Buffer.from(value);
  }

  test('is checked against the content', async () => {
    expect(await hasHash(content('test\n'), ofTest)).toBe(true);
    expect(await hasHash(content('test\n'), ofTest.toUpperCase())).toBe(true);
    expect(await hasHash(content(''), ofTest)).toBe(false);
  });

  test.each(['', 'md5-0', 'sha512', 'sha512-00', `sha256-${'0'.repeat(128)}`, `sha512-${'z'.repeat(128)}`])(
    '%s is not understood',
    (value) => {
      expect(() => parseImageHash(value)).toThrow(/could not understand/);
    },
  );
});
