import { expect, test } from 'vitest';
import { proxyFor } from './proxy-variables.ts';

const variables = {
  https_proxy: 'http://p:3128',
  HTTP_PROXY: 'q:80',
  no_proxy: 'a.test,.b.test,10.0.0.0/8,192.0.2.7:8443,::1/128, *.c.test',
};

test.each([
  ['https://x.test/', 'http://p:3128'],
  ['http://x.test/', 'http://q:80'],
  ['https://a.test/', undefined],
  ['https://sub.a.test/', undefined],
  ['https://b.test/', 'http://p:3128'],
  ['https://sub.b.test/', undefined],
  ['https://sub.c.test/', undefined],
  ['https://10.3.0.1:6443/', undefined],
  ['https://11.3.0.1:6443/', 'http://p:3128'],
  ['https://192.0.2.7:8443/', undefined],
  ['https://192.0.2.7/', 'http://p:3128'],
  ['https://127.0.0.1/', undefined],
  ['https://[::1]:6443/', undefined],
  ['https://localhost/', undefined],
])('%s goes through %s', (url, proxy) => {
  expect(proxyFor(url, variables)).toBe(proxy);
});

test('without variables nothing goes through a proxy, and * exempts everything', () => {
  expect(proxyFor('https://x.test/', {})).toBeUndefined();
  expect(proxyFor('https://x.test/', { ...variables, NO_PROXY: '*' })).toBeUndefined();
});
