import { expect, test } from 'vitest';
import { parseUrl, queryParameter } from './url.ts';

test('a URL is taken apart as far as the rules need it', () => {
  expect(parseUrl('HTTPS://user@host:8443/a%20b?c=d#e')).toEqual({ scheme: 'https', opaque: '', query: 'c=d' });
  expect(parseUrl('arn:aws:s3:::b/k?v=1')).toEqual({ scheme: 'arn', opaque: 'aws:s3:::b/k', query: 'v=1' });
  expect(parseUrl('relative/path')).toEqual({ scheme: '', opaque: '', query: '' });
});

test.each(['http://a:b', 'http://[::1', 'http://a b', 'http://a/%zz', ':a', 'http://a\n', 'http://%41/', 'a_b:c'])(
  '%j is no URL',
  (text) => {
    expect(parseUrl(text)).toBeUndefined();
  },
);

test('a query parameter is the first of its name; malformed ones are passed over', () => {
  expect(queryParameter('a=%zz&a=b+c&a=d', 'a')).toBe('b c');
  expect(queryParameter('a;b=c', 'b')).toBeUndefined();
  expect(queryParameter('a', 'a')).toBe('');
});
