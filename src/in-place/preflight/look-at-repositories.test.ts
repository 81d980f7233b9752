import { expect, test } from 'vitest';
import { fakeHost } from '../../host/fake/fake-host.ts';
import { aptFailures, dnfFailures, lookAtRepositories } from './look-at-repositories.ts';

test('names the repositories that apt cannot reach', () => {
  const output = [
    'Ign:1 http://mirror.test/debian bookworm InRelease',
    'Err:1 http://mirror.test/debian bookworm InRelease',
    '  Could not resolve "mirror.test"',
    'Get:2 http://other.test/debian bookworm InRelease [151 kB]',
    'Err:3 http://third.test/debian bookworm/main amd64 Packages',
    '  404  Not Found [IP: 10.0.0.1 80]',
  ].join('\n');
  expect(aptFailures(output)).toEqual([
    { id: 'http://mirror.test/debian bookworm', detail: 'Could not resolve "mirror.test"' },
    { id: 'http://third.test/debian bookworm/main amd64 Packages', detail: '404  Not Found [IP: 10.0.0.1 80]' },
  ]);
});

test('names the repositories that dnf cannot reach, each once', () => {
  const output = [
    "Errors during downloading metadata for repository 'baseos':",
    '  - Curl error (6): Could not resolve host: mirror.test',
    "Error: Failed to download metadata for repo 'baseos': Cannot prepare internal mirrorlist",
    "Error: Failed to download metadata for repo 'appstream': Cannot download repomd.xml",
  ].join('\n');
  expect(dnfFailures(output)).toEqual([
    { id: 'baseos', detail: '- Curl error (6): Could not resolve host: mirror.test'.slice(2) },
    { id: 'appstream', detail: 'Cannot download repomd.xml' },
  ]);
});

test('lets apt read the indexes into a folder that is gone afterwards', async () => {
  const seen: string[] = [];
  const host = fakeHost({
    processes: {
      run: async (program, args) => {
        seen.push(program, ...args);
        return { code: 100, signal: undefined, stdout: '', stderr: 'E: broken\n', timedOut: false };
      },
    },
  });
  expect(await lookAtRepositories(host, 'apt', new AbortController().signal)).toEqual([
    { id: 'all', detail: 'E: broken' },
  ]);
  const scratch = seen.find((word) => word.startsWith('Dir::State::lists='))?.slice('Dir::State::lists='.length) ?? '';
  expect(scratch).toMatch(/^\/tmp\//);
  expect([...host.disk.nodes.keys()].filter((path) => path.startsWith('/tmp/'))).toEqual([]);
});
