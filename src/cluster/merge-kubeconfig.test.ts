import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { kubeconfigText } from '../kubernetes/kubeconfig.ts';
import { mergedKubeconfig } from './merge-kubeconfig.ts';

const added = (server: string): string =>
  kubeconfigText({ cluster: 'demo', server, caPem: 'ca', user: 'admin', credential: { kind: 'token', token: server } });

test('a cluster joins others without touching them, and becomes current', () => {
  const others =
    'apiVersion: v1\nkind: Config\nclusters: [{name: work, cluster: {server: https://work}}]\ncurrent-context: work\n';
  const merged = parse(mergedKubeconfig(others, added('https://one'), 'demo-abcde')) as Record<string, unknown>;
  expect(merged['clusters']).toMatchObject([
    { name: 'work' },
    { name: 'demo-abcde', cluster: { server: 'https://one' } },
  ]);
  expect(merged['contexts']).toEqual([
    { name: 'demo-abcde', context: { cluster: 'demo-abcde', user: 'admin@demo-abcde' } },
  ]);
  expect(merged['users']).toMatchObject([{ name: 'admin@demo-abcde' }]);
  expect(merged['current-context']).toBe('demo-abcde');
});

test('merged again, it replaces itself', () => {
  const once = mergedKubeconfig('', added('https://one'), 'demo-abcde');
  const twice = parse(mergedKubeconfig(once, added('https://two'), 'demo-abcde')) as Record<string, unknown>;
  expect(twice['clusters']).toMatchObject([{ name: 'demo-abcde', cluster: { server: 'https://two' } }]);
  expect(twice['users']).toMatchObject([{ user: { token: 'https://two' } }]);
});
