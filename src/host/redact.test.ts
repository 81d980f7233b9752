import { describe, expect, test } from 'vitest';
import { redact } from './redact.ts';

const key = '-----BEGIN PRIVATE KEY-----\nMIGHAgEAMBMGByqGSM49\n-----END PRIVATE KEY-----';
const pullSecret = '{"auths":{"r.test":{"auth":"dTpvcGVuc2VzYW1l"}}}';

describe('what reaches a log', () => {
  test.each([
    ['a private key', key, 'MIGHAgEAMBMGByqGSM49'],
    ['a private key inside JSON', JSON.stringify({ key }), 'MIGHAgEAMBMGByqGSM49'],
    ['a bootstrap token', 'user abcdef.0123456789abcdef joined', '0123456789abcdef'],
    ['an authorization header', 'Authorization: Bearer c2VjcmV0LXNlY3JldA', 'c2VjcmV0LXNlY3JldA'],
    ['a pool token', 'got flp_0123456789abcdefghijklmnopqrstuvwxyz012345', 'abcdefghijklmnopqrstuvwxyz'],
    ['a password', '{"password":"hunter2"}', 'hunter2'],
    ['a pull secret', pullSecret, 'dTpvcGVuc2VzYW1l'],
    ['a pull secret inside a line of JSON', JSON.stringify({ text: pullSecret }), 'dTpvcGVuc2VzYW1l'],
    ['a key in a data URL', `data:;base64,${'QUJD'.repeat(30)}`, 'QUJDQUJD'],
  ])('%s does not get there', (_what, text, secret) => {
    expect(text).toContain(secret);
    expect(redact(text)).not.toContain(secret);
  });

  test('a line of JSON is still one', () => {
    const line = redact(JSON.stringify({ text: pullSecret }));
    expect(JSON.parse(line)).toEqual({ text: '{"auths":{"r.test":{"auth":"[redacted]"}}}' });
  });

  test('certificates and ordinary words stay readable', () => {
    const text = 'tls/root-ca.crt expires 2036-01-01; etcd.master-0 is a voter';
    expect(redact(text)).toBe(text);
  });
});
