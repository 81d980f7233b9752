import { expect, test } from 'vitest';
import { fakeHost } from '../host/fake/fake-host.ts';
import {
  type EncryptionKeys,
  encryptionConfigurationText,
  encryptionDigest,
  loadedEncryptionDigest,
  madeAt,
  newEncryptionKey,
  readEncryptionKeys,
} from './secrets-encryption.ts';

const { random } = fakeHost();
const key = (moment: string) => newEncryptionKey(random, new Date(moment));
const first = key('2026-01-02T03:04:05.678Z');
const second = key('2026-02-02T03:04:05Z');

test('a key is 32 random bytes, and its name says when it was made', () => {
  expect(first.name).toBe('key-20260102t030405z');
  expect(Buffer.from(first.secret, 'base64')).toHaveLength(32);
  expect(first.secret).not.toBe(second.secret);
  expect(madeAt(first).toISOString()).toBe('2026-01-02T03:04:05.000Z');
});

test('what is written is read again, in the same order', () => {
  const keys: EncryptionKeys = [second, first];
  const text = encryptionConfigurationText(keys);
  expect(readEncryptionKeys(text)).toEqual(keys);
  expect(JSON.parse(text)).toMatchObject({ resources: [{ providers: [{ secretbox: {} }, { identity: {} }] }] });
  expect(encryptionDigest(text)).toMatch(/^sha256:[0-9a-f]{64}$/);
  expect(encryptionDigest(text)).not.toBe(encryptionDigest(encryptionConfigurationText([first, second])));
});

test.each([
  ['no JSON', 'kind: EncryptionConfiguration'],
  ['no key', encryptionConfigurationText([first]).replace(/\{\s+"name"[^}]*\}/, '')],
  ['a key of 31 bytes', encryptionConfigurationText([{ ...first, secret: Buffer.alloc(31).toString('base64') }])],
  ['two keys of one name', encryptionConfigurationText([first, { ...second, name: first.name }])],
  [
    'identity first: Secrets would be written in clear',
    encryptionConfigurationText([first]).replace('secretbox', 'identity'),
  ],
  ['another resource', encryptionConfigurationText([first]).replace('"secrets"', '"configmaps"')],
])('%s is a mistake, and the mistake shows no key', (_what, text) => {
  const read = readEncryptionKeys(text);
  expect(read).toHaveProperty('mistake');
  expect(JSON.stringify(read)).not.toContain(first.secret);
});

test('what a kube-apiserver has loaded stands in its metrics', () => {
  const metric = 'apiserver_encryption_config_controller_last_config_info';
  const text = `# TYPE ${metric} gauge\n${metric}{apiserver_id_hash="sha256:aa",hash="sha256:bb"} 1\nup 1\n`;
  expect(loadedEncryptionDigest(text)).toBe('sha256:bb');
  expect(loadedEncryptionDigest('up 1\n')).toBeUndefined();
});
