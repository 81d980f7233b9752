// A build that is killed must take its packaging tools with it, and their mounts: asked from the kernel, not from us.
import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { ownNamespaces } from '../../src/release/machine/debian.ts';

const isRoot = process.getuid?.() === 0;

test.skipIf(!isRoot)('kill -9 of the builder ends what it started, and no mount stays', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'firstlight-namespaces-'));
  const pidFile = join(folder, 'pid');
  // The innermost program reports its pid as the host sees it, after it has mounted something.
  const inner = `mount -t tmpfs none /mnt && read -r pid rest < /proc/self/stat && echo "$pid" > ${pidFile}.tmp && mv ${pidFile}.tmp ${pidFile} && sleep 600`;
  const command = JSON.stringify([...ownNamespaces, 'sh', '-c', inner]);
  const script = `const [program, ...args] = ${command}; require('node:child_process').spawn(program, args, { detached: true, stdio: 'ignore' }); setInterval(() => {}, 1000)`;
  const builder = spawn(process.execPath, ['-e', script], { stdio: 'ignore' });
  try {
    const pid = await text(pidFile);
    expect(await alive(pid), 'the tool runs').toBe(true);
    expect(await readFile('/proc/self/mountinfo', 'utf8')).not.toContain(' /mnt ');
    builder.kill('SIGKILL');
    for (let waited = 0; waited < 5_000 && (await alive(pid)); waited += 50) await pause(50);
    expect(await alive(pid), 'the tool runs on').toBe(false);
  } finally {
    builder.kill('SIGKILL');
    await rm(folder, { recursive: true, force: true });
  }
});

async function text(path: string): Promise<string> {
  for (let waited = 0; waited < 10_000; waited += 50) {
    const found = await readFile(path, 'utf8').catch(() => '');
    if (found !== '') return found.trim();
    await pause(50);
  }
  throw new Error(`${path} did not appear`);
}

/** A zombie is dead: only its parent has not looked yet. */
async function alive(pid: string): Promise<boolean> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  return status !== '' && !/^State:\s+Z/m.test(status);
}
