// The whole tree of this host as a copy that nobody else sees: an overlay in a mount namespace of its own, in which
// programs of the distribution may install and write what they like. It is gone when its holder ends.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Verdict } from '../programs.ts';

const setUp = `set -e
mount -t tmpfs -o mode=0755 tmpfs "$1"
mkdir "$1/upper" "$1/work" "$1/root"
mount -t overlay overlay -o "lowerdir=/,upperdir=$1/upper,workdir=$1/work" "$1/root"
mount -t proc proc "$1/root/proc"
mount --rbind /dev "$1/root/dev"
mount -t tmpfs tmpfs "$1/root/tmp"
mount -t tmpfs tmpfs "$1/root/run"
mkdir -p "$1/root$2"
mount --bind -o ro "$2" "$1/root$2"
echo ready
exec sleep infinity`;

export interface MachineTree extends AsyncDisposable {
  /** Runs a program in the tree. No systemd runs there: systemctl works on the files alone. */
  run(program: string, args: readonly string[], input?: string): Promise<Verdict>;
  /** A script of the shell; throws what it said when it fails. */
  shell(script: string): Promise<string>;
}

/** The programs that run in the tree are those of this checkout, wherever it lies: also below /tmp. */
const checkout = resolve(import.meta.dirname, '../../..');

export async function machineTree(): Promise<MachineTree> {
  const folder = mkdtempSync(join(tmpdir(), 'machine-tree-'));
  const holder = spawn('unshare', ['--mount', '--propagation', 'private', 'sh', '-c', setUp, 'sh', folder, checkout], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await new Promise<void>((done, fail) => {
    holder.stdout.once('data', () => done());
    holder.once('exit', (code) => fail(new Error(`the tree was not made: unshare ended with ${code}`)));
  });
  const run: MachineTree['run'] = (program, args, input) =>
    inTree(holder, join(folder, 'root'), [program, ...args], input);
  return {
    run,
    shell: async (script) => {
      const { code, output } = await run('sh', ['-euc', script]);
      if (code !== 0) throw new Error(`${script}\n${output}`);
      return output;
    },
    [Symbol.asyncDispose]: async () => {
      const ended = new Promise((done) => holder.once('exit', done));
      holder.kill('SIGKILL');
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function inTree(holder: ChildProcess, root: string, command: readonly string[], input = ''): Promise<Verdict> {
  return new Promise((done, fail) => {
    const child = spawn('nsenter', ['-t', String(holder.pid), '-m', 'chroot', root, ...command], {
      env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', HOME: '/root', SYSTEMD_OFFLINE: '1' },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    let output = '';
    child.stdout.on('data', (chunk) => (output += String(chunk)));
    child.stderr.on('data', (chunk) => (output += String(chunk)));
    child.on('error', fail);
    child.on('close', (code) => done({ code, output }));
    // A program that does not read its input is no failure.
    child.stdin.on('error', () => undefined);
    child.stdin.end(input);
  });
}

export function mustRun(program: string, args: readonly string[], cwd: string): void {
  const { status, stderr, stdout } = spawnSync(program, args, { cwd, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${program} ${args.join(' ')}: ${stdout}${stderr}`);
}
