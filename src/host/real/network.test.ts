import { expect, test } from 'vitest';
import { networkFailureOf } from './network.ts';

const table = {
  ECONNREFUSED: 'refused',
  ENOTFOUND: 'dns',
  EHOSTUNREACH: 'unreachable',
  ECONNRESET: 'reset',
  ETIMEDOUT: 'timeout',
  SELF_SIGNED_CERT_IN_CHAIN: 'tls',
  ERR_TLS_CERT_ALTNAME_INVALID: 'tls',
  ESOMETHING: 'protocol',
};
test.each(Object.entries(table))('%s means %s', (code, failure) => {
  expect(networkFailureOf(code, 'as it was said')[0]).toBe(failure);
});

test('a code that is not in the table is told in its own words', () => {
  expect(networkFailureOf('ESOMETHING', 'as it was said')[1]).toBe('as it was said');
});
