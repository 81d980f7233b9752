import { expect, test } from 'vitest';
import { torcxArguments } from './program-names.ts';

test.each([
  ['/usr/bin/tectonic-torcx-bootstrap', ['--upgrade-os'], ['torcx', 'bootstrap', '--upgrade-os=true']],
  ['tectonic-torcx-hook-pre', ['--sleep=3'], ['torcx', 'hook-pre', '--sleep=3']],
  [
    'firstlight',
    ['torcx', 'bootstrap', '--dry-run', '--upgrade-os=F'],
    ['torcx', 'bootstrap', '--dry-run=true', '--upgrade-os=F'],
  ],
  [
    'firstlight',
    ['--log-level=debug', 'explain', 'torcx', '--upgrade-os'],
    ['--log-level=debug', 'explain', 'torcx', '--upgrade-os=true'],
  ],
  ['firstlight', ['create', 'cluster', '--dry-run'], ['create', 'cluster', '--dry-run']],
])('%s %j is read as %j', (calledAs, args, argv) => {
  expect(torcxArguments(calledAs, args)).toEqual(argv);
});
