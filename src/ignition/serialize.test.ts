import { expect, test } from 'vitest';
import type { IgnitionConfig } from './config.ts';
import { serialize } from './serialize.ts';

test('keys come in the order of the table, whatever order they were set in', () => {
  const one: IgnitionConfig = {
    ignition: { version: '3.5.0' },
    storage: { files: [{ path: '/a', mode: 420, contents: { source: 'data:,a' } }] },
  };
  const two: IgnitionConfig = {
    storage: { files: [{ contents: { source: 'data:,a' }, mode: 420, path: '/a' }] },
    ignition: { version: '3.5.0' },
  };
  expect(serialize(one)).toBe(serialize(two));
  expect(serialize(one)).toBe(
    '{"ignition":{"version":"3.5.0"},"storage":{"files":[{"path":"/a","contents":{"source":"data:,a"},"mode":420}]}}\n',
  );
});

test('empty objects and lists are left out; empty text, zero and false are values', () => {
  const config: IgnitionConfig = {
    ignition: { version: '3.5.0', config: { replace: {} }, timeouts: { httpTotal: 0 } },
    storage: { files: [], links: [{ path: '/l', target: '', hard: false, user: {} }] },
    systemd: { units: [{ name: 'a.service', dropins: [{ name: 'x.conf', contents: '' }] }] },
  };
  expect(JSON.parse(serialize(config))).toEqual({
    ignition: { version: '3.5.0', timeouts: { httpTotal: 0 } },
    storage: { links: [{ path: '/l', target: '', hard: false }] },
    systemd: { units: [{ name: 'a.service', dropins: [{ name: 'x.conf', contents: '' }] }] },
  });
});
