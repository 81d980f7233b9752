import { expect, test } from 'vitest';
import { fakeHost } from '../host/fake/fake-host.ts';
import { Secret } from '../host/secret.ts';
import { openText, sealText } from './sealed-keys.ts';

const { random } = fakeHost();
const sealing = { rootCaKey: new Secret('a key of root-ca'), clusterId: 'one' };

test('the key of root-ca opens what it has sealed', () => {
  const sealed = sealText('the keys', sealing, random);
  expect(Buffer.from(sealed, 'base64').includes('the keys')).toBe(false);
  expect(openText(sealed, sealing)).toBe('the keys');
});

test('it opens for no other key, for no other cluster, and not when it was altered', () => {
  const sealed = sealText('the keys', sealing, random);
  expect(openText(sealed, { ...sealing, rootCaKey: new Secret('another') })).toBeUndefined();
  expect(openText(sealed, { ...sealing, clusterId: 'two' })).toBeUndefined();
  const bytes = Buffer.from(sealed, 'base64');
  bytes[30] = (bytes[30] ?? 0) ^ 1;
  expect(openText(bytes.toString('base64'), sealing)).toBeUndefined();
  expect(openText('AAAA', sealing)).toBeUndefined();
});
