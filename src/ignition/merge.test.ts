import { expect, test } from 'vitest';
import type { FileNode, IgnitionConfig } from './config.ts';
import { merge, mergeAll } from './merge.ts';

const withFiles = (...files: FileNode[]): IgnitionConfig => ({ ignition: { version: '3.5.0' }, storage: { files } });

test('the child wins where it says something, in the place of the parent', () => {
  const merged = merge(
    withFiles({ path: '/a', mode: 1 }, { path: '/b' }),
    withFiles({ path: '/c' }, { path: '/a', mode: 0 }),
  );
  expect(merged).toEqual(withFiles({ path: '/a', mode: 0 }, { path: '/b' }, { path: '/c' }));
});

test('a path that changes its kind twice keeps nothing of its first life', () => {
  const link: IgnitionConfig = { ignition: { version: '3.5.0' }, storage: { links: [{ path: '/a', target: '/b' }] } };
  const merged = mergeAll([withFiles({ path: '/a', mode: 1 }), link, withFiles({ path: '/a', user: { id: 1 } })]);
  expect(merged).toEqual(withFiles({ path: '/a', user: { id: 1 } }));
});

test('an entry that was deleted can come back', () => {
  const withHeader = (value?: string): IgnitionConfig =>
    withFiles({
      path: '/a',
      contents: { source: 'http://a', httpHeaders: [{ name: 'h', ...(value === undefined ? {} : { value }) }] },
    });
  expect(mergeAll([withHeader('1'), withHeader()])).toEqual(
    withFiles({ path: '/a', contents: { source: 'http://a' } }),
  );
  expect(mergeAll([withHeader('1'), withHeader(), withHeader('2')])).toEqual(withHeader('2'));
});

test('merging many is merging one after the other', () => {
  const configs = [0, 1, 2, 3, 4].map((turn) =>
    withFiles({ path: `/${turn % 2}`, mode: turn }, { path: `/${turn % 3}x` }),
  );
  const [first, ...rest] = configs as [IgnitionConfig, ...IgnitionConfig[]];
  expect(mergeAll([first, ...rest])).toEqual(rest.reduce(merge, merge(first, first)));
});

test('older configs are brought to the newest spec', () => {
  const merged = merge(
    { ignition: { version: '3.0.0' } },
    { ignition: { version: '3.2.0' }, storage: { links: [{ path: '/a' }] } },
  );
  expect(merged).toEqual({ ignition: { version: '3.5.0' }, storage: { links: [{ path: '/a', target: '' }] } });
});
