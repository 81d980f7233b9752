// Who is believed to hold a lock: real processes of this user and of another one.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { lockFolder, lockName } from './locks.ts';

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'firstlight-lock-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

async function started(script: string, ...args: readonly string[]): Promise<ChildProcess> {
  const child = spawn(process.execPath, ['--input-type=module', '--eval', script, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill());
  await new Promise((done) => child.stdout.once('data', done));
  return child;
}

test('a process of ours says what it does', async () => {
  const folder = temporaryFolder();
  const locks = new URL('locks.ts', import.meta.url).href;
  const script = `import { lockFolder } from '${locks}'; await lockFolder(process.argv[1], 'create cluster');
console.log('ready'); setInterval(() => {}, 1000);`;
  const child = await started(script, folder);
  expect(await lockFolder(folder, 'x')).toEqual({ heldBy: { pid: child.pid, purpose: 'create cluster' } });
});

const squat = `import { createServer } from 'node:net';
const [, name, owner, pid] = process.argv;
process.setuid(Number(owner));
const answer = JSON.stringify({ pid: Number(pid) || process.pid, purpose: 'reboot \\u001b[2J now' });
createServer((socket) => socket.end(answer)).listen('\\0' + name, () => console.log('ready'));`;

test.skipIf(process.getuid?.() !== 0).each([
  ['another user', '65534', '0'],
  ['another user, who names a process of root', '65534', '1'],
  ['root, but names another process', '0', String(process.pid)],
])('no word is believed of %s', async (_, owner, pid) => {
  const folder = temporaryFolder();
  await started(squat, (await lockName(folder)).slice(1), owner, pid);
  expect(await lockFolder(folder, 'x')).toEqual({ heldBy: {} });
});
