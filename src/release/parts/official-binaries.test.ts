import { expect, test } from 'vitest';
import { officialSources } from './official-binaries.ts';

test('everything official comes over TLS', () => {
  for (const source of Object.values(officialSources)) expect(new URL(source.url).protocol).toBe('https:');
});
