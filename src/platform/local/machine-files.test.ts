// On real files, because links and pipes are the kernel's.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import type { Files } from '../../host/files.ts';
import { realHost } from '../../host/real/real-host.ts';
import { machinePaths } from './cluster-folder.ts';
import { machineFiles } from './machine-files.ts';

const folder = mkdtempSync(join(tmpdir(), 'firstlight-machine-files-'));
const { upper } = machinePaths('demo', 'a');
const disk = realHost().files;
const moved = (path: string): string => path.replace(upper, folder);
/** The real files, with the machine's folder at another place. */
const files: Files = {
  ...disk,
  realPath: (path) => disk.realPath(moved(path)),
  facts: (path) => disk.facts(moved(path)),
  readIfPresent: (path) => disk.readIfPresent(moved(path)),
  list: (path) => disk.list(moved(path)),
};
const machine = machineFiles(files, 'demo', 'a');

mkdirSync(join(folder, 'etc'));
writeFileSync(join(folder, 'etc/real'), 'words');
symlinkSync('real', join(folder, 'etc/inner'));
symlinkSync('/etc/passwd', join(folder, 'etc/outer'));
symlinkSync('/etc', join(folder, 'outer-folder'));
symlinkSync('/dev/zero', join(folder, 'etc/device'));
execFileSync('mkfifo', [join(folder, 'etc/pipe')]);
writeFileSync(join(folder, 'etc/endless'), '');
truncateSync(join(folder, 'etc/endless'), 2 ** 40);
afterAll(() => rmSync(folder, { recursive: true }));

test.each(['/etc/real', '/etc/inner'])('%s of the machine can be read', async (path) => {
  expect(Buffer.from((await machine.readIfPresent(path)) ?? '').toString('utf8')).toBe('words');
});

test.each(['/etc/none', '/etc/outer', '/outer-folder/passwd', '/etc/device', '/etc/pipe', '/etc/endless', '/etc'])(
  '%s is no file of the machine',
  async (path) => {
    expect(await machine.readIfPresent(path)).toBeUndefined();
  },
);

test('a folder of the machine can be listed, and neither a file nor a link that leads out', async () => {
  expect(await machine.list('/etc')).toContain('real');
  for (const path of ['/etc/real', '/outer-folder', '/none']) expect(await machine.list(path)).toBeUndefined();
});
