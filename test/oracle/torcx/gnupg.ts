// GnuPG in a home of its own: it makes keys and signatures, and gpgv judges them.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Gnupg extends Disposable {
  /** A signing key; `at` makes it in the past, `life` is GnuPG's notation (`1y`, `never`). Returns its fingerprint. */
  makeKey(name: string, options?: KeyOptions): string;
  sign(key: string, content: Uint8Array | string, flags?: readonly string[]): string;
  run(args: readonly string[], input?: string): string;
  exportArmored(...keys: string[]): string;
  /** gpgv's machine-readable lines and its exit code. */
  judge(content: Uint8Array | string, signature: string, keys: readonly string[], flags?: readonly string[]): Verdict;
}

export interface KeyOptions {
  readonly at?: string;
  readonly life?: string;
  readonly algorithm?: string;
}

export interface Verdict {
  readonly code: number;
  readonly status: readonly string[];
}

export function openGnupg(): Gnupg {
  // Short: the agent's socket path has a limit.
  const home = mkdtempSync('/tmp/flgpg-');
  // Started with nothing to hold on to: an agent that gpg starts keeps the pipes of the caller open.
  spawnSync('gpgconf', ['--homedir', home, '--launch', 'gpg-agent'], { stdio: 'ignore' });
  const options = [
    '--homedir',
    home,
    '--batch',
    '--yes',
    '--quiet',
    '--no-tty',
    '--pinentry-mode',
    'loopback',
    '--passphrase',
    '',
  ];
  const run = (args: readonly string[], input?: string): string => {
    const result = spawnSync('gpg', [...options, ...args], { input, encoding: 'utf8' });
    if (result.status !== 0) throw new Error(`gpg ${args.join(' ')}: ${result.stderr}`);
    return result.stdout;
  };
  return {
    run,
    makeKey: (name, { at, life = 'never', algorithm = 'ed25519' } = {}) => {
      run([...past(at), '--quick-generate-key', `${name} <${name}@example.test>`, algorithm, 'sign', life]);
      const listed = run(['--list-keys', '--with-colons', `${name}@example.test`]);
      return /^fpr:+([0-9A-F]{40}):/m.exec(listed)?.[1] ?? '';
    },
    sign: (key, content, flags = []) => {
      const [input, output] = [join(home, 'in'), join(home, 'out.asc')];
      writeFileSync(input, content);
      run([...flags, '--local-user', key, '--armor', '--detach-sign', '--output', output, input]);
      return spawnSync('cat', [output], { encoding: 'utf8' }).stdout;
    },
    exportArmored: (...keys) => run(['--armor', '--export', ...keys]),
    judge: (content, signature, keys, flags = []) => {
      const ring = join(home, 'ring.gpg');
      writeFileSync(join(home, 'in'), content);
      writeFileSync(join(home, 'sig.asc'), signature);
      run(['--output', ring, '--export', ...keys]);
      const result = spawnSync(
        'gpgv',
        ['--status-fd', '1', '--keyring', ring, ...flags, join(home, 'sig.asc'), join(home, 'in')],
        { encoding: 'utf8' },
      );
      const status = result.stdout.split('\n').map((line) => line.replace('[GNUPG:] ', ''));
      return { code: result.status ?? -1, status };
    },
    [Symbol.dispose]: () => {
      spawnSync('gpgconf', ['--homedir', home, '--kill', 'all']);
      rmSync(home, { recursive: true, force: true });
    },
  };
}

export function past(at: string | undefined): readonly string[] {
  return at === undefined ? [] : ['--faked-system-time', `${at}!`];
}
