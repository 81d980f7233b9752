import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import type { FirstlightError } from '../../errors/firstlight-error.ts';
import { fakeHost } from '../../host/fake/fake-host.ts';
import type { RunResult } from '../../host/processes.ts';
import { shellQuoted } from '../../platform/ssh-access.ts';
import { connectSsh, type SshTarget, sshCommand } from './ssh.ts';

const target: SshTarget = {
  address: '10.99.0.37',
  user: 'core',
  keyFile: '/keys/id',
  knownHostsFile: '/dir/known_hosts',
  inNetwork: (command) => ['nsenter', '--net=/run/netns/x', ...command],
};
const { signal } = new AbortController();

/** A machine that answers each script by the first answer whose text is in it. */
function machine(answers: Readonly<Record<string, Partial<RunResult>>>) {
  const asked: string[][] = [];
  const host = fakeHost({
    processes: {
      run: async (program, args) => {
        asked.push([program, ...args]);
        const script = args.at(-1) ?? '';
        const answer = Object.entries(answers).find(([text]) => script.includes(text))?.[1] ?? {};
        return { code: 0, signal: undefined, stdout: '', stderr: '', timedOut: false, ...answer };
      },
    },
  });
  return { host, asked };
}

async function codeOf(work: Promise<unknown>): Promise<string> {
  return work.then(
    () => 'done',
    (error: FirstlightError) => `${error.code}: ${error.message}`,
  );
}

test('ssh asks nobody, uses the given key alone and learns the host key into the asset folder', () => {
  expect(sshCommand(target, 'true').join(' ')).toBe(
    'ssh -i /keys/id -o BatchMode=yes -o ConnectTimeout=10 -o ServerAliveInterval=10 -o StrictHostKeyChecking=accept-new -o UserKnownHostsFile=/dir/known_hosts -o IdentitiesOnly=yes core@10.99.0.37 -- true',
  );
});

test('a user who is not root works by sudo, root does not, and both inside the network of the machines', async () => {
  const user = machine({ 'id -u': { stdout: '1000\nx86_64\n' } });
  const connected = await connectSsh(user.host, target, signal);
  await connected.run("echo 'a b'");
  expect(connected.architecture).toBe('x86_64');
  expect(user.asked.at(-1)?.at(-1)).toBe(String.raw`sudo -n sh -c 'echo '\''a b'\'''`);
  expect(user.asked.every(([program]) => program === 'nsenter')).toBe(true);
  const root = machine({ 'id -u': { stdout: '0\naarch64\n' } });
  await (await connectSsh(root.host, target, signal)).run('true');
  expect(root.asked.at(-1)?.at(-1)).toBe('true');
});

test('what fails is named by the last words of ssh, of sudo or of the script', async () => {
  const away = machine({
    'id -u': { code: 255, stderr: 'core@10.99.0.37: Permission denied (publickey).\n' },
  });
  expect(await codeOf(connectSsh(away.host, target, signal))).toBe(
    'IPB_SSH: ssh core@10.99.0.37: core@10.99.0.37: Permission denied (publickey).',
  );
  const answers = {
    'id -u': { stdout: '1000\nx86_64\n' },
    sudo: { code: 1, stderr: 'sudo: a password is required\n' },
  };
  expect(await codeOf(connectSsh(machine(answers).host, target, signal))).toBe(
    'IPB_NOT_ROOT: core cannot become root on 10.99.0.37: sudo: a password is required',
  );
  const full = machine({
    'id -u': { stdout: '0\nx86_64\n' },
    tar: { code: 2, stderr: 'tar: No space left on device\n' },
  });
  const connected = await connectSsh(full.host, target, signal);
  expect(await codeOf(connected.run('tar -xf -'))).toBe('IPB_SSH: ssh core@10.99.0.37: tar: No space left on device');
});

test('a machine that is not reached is asked again for a while, one that refuses the key is not', async () => {
  const asleep = machine({ 'id -u': { code: 255, stderr: 'ssh: connect to host x port 22: Connection timed out\n' } });
  const connecting = codeOf(connectSsh(asleep.host, target, signal));
  expect(await connecting).toContain('Connection timed out');
  expect(asleep.asked).toHaveLength(4);
  const denied = machine({ 'id -u': { code: 255, stderr: 'core@10.99.0.37: Permission denied (publickey).\n' } });
  expect(await codeOf(connectSsh(denied.host, target, signal))).toContain('Permission denied');
  expect(denied.asked).toHaveLength(1);
});

test('a shell reads a quoted text as it was', () => {
  for (const text of ["it's", '$HOME `id` "x" \\', 'two\nlines', '']) {
    expect(execFileSync('sh', ['-c', `printf %s ${shellQuoted(text)}`], { encoding: 'utf8' })).toBe(text);
  }
});
