// The program as a person meets it: started by its launcher, in a real process, on real and on broken file systems.
import { spawn, spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const launcher = new URL('../../firstlight', import.meta.url).pathname;
let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'firstlight-cli-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Answer {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

function firstlight(...args: readonly string[]): Answer {
  const { status, stdout, stderr } = spawnSync(launcher, args, { encoding: 'utf8', cwd: folder, input: '' });
  return { code: status, out: stdout, err: stderr };
}

/** Runs inside a mount namespace of its own, where `mount` prepares the folder `$DIR`. */
function firstlightOn(mount: string, dir: string): Answer {
  mkdirSync(dir, { recursive: true });
  const script = `${mount} && exec ${launcher} create ignition-configs --dir ${dir}/cluster`;
  const { status, stdout, stderr } = spawnSync('unshare', ['-m', 'sh', '-c', script], {
    encoding: 'utf8',
    env: { ...process.env, DIR: dir },
  });
  return { code: status, out: stdout, err: stderr };
}

describe('the command line', () => {
  test('without words it shows what there is, on stdout', () => {
    const { code, out, err } = firstlight();
    expect(code).toBe(0);
    expect(out).toContain('create ignition-configs');
    expect(err).toBe('');
  });

  test('control characters are shown, not obeyed: on a pipe, on a terminal and in JSON', () => {
    const name = 'X\u001B[2J\u009B31m\u202E';
    const shown = 'there is no error X\\u001b[2J\\u009b31m\\u202e';
    expect(firstlight('explain', 'error', name).err).toContain(shown);
    const terminal = spawnSync('script', ['-qec', `${launcher} explain error '${name}'`, '/dev/null'], {
      encoding: 'utf8',
    });
    expect(terminal.stdout).toContain(shown);
    expect(terminal.stdout).not.toContain(name.slice(1, 5));
    const { err } = firstlight('explain', 'error', name, '-o', 'json');
    expect(err).not.toMatch(/[\p{Cf}]|(?!\n)\p{Cc}/u);
    expect((JSON.parse(err) as { error: { message: string } }).error.message).toContain(name);
  });

  test.each([
    [['creat', 'manifests'], 'did you mean create manifests?'],
    [['create', 'manifest'], 'did you mean create manifests?'],
    [['vresion'], 'did you mean version?'],
    [['version', '--colour'], "unknown option '--colour'"],
    [['graph', '--format', 'png'], 'Allowed choices are dot, mermaid'],
    [['completion'], "missing required argument 'shell'"],
    [['explain', 'asset', 'root-cat'], 'did you mean root-ca?'],
    [['explain', 'installconfig.netwroking'], 'networking'],
  ])('%j is a usage error that helps', (words, help) => {
    const { code, out, err } = firstlight(...words);
    expect(err).toContain(help);
    expect(code).toBe(2);
    expect(out).toBe('');
    expect(err).not.toMatch(/ {4}at .*:\d+:\d+/);
  });

  test('with -o json an error is data too', () => {
    const { code, err } = firstlight('explain', 'error', 'ASET_CONFLICT', '-o', 'json');
    expect(code).toBe(2);
    expect(JSON.parse(err)).toMatchObject({ error: { code: 'CLI_USAGE', exit: 2 } });
  });

  test('global options work before and after the words', () => {
    expect(JSON.parse(firstlight('-o', 'json', 'version').out)).toEqual(
      JSON.parse(firstlight('version', '-o', 'json').out),
    );
  });

  test('it works through a symlink and from any folder', () => {
    const link = join(folder, 'fl');
    symlinkSync(launcher, link);
    const { status, stdout } = spawnSync(link, ['version'], { encoding: 'utf8', cwd: '/' });
    expect({ status, stdout }).toEqual({ status: 0, stdout: 'firstlight 0.1.0\n' });
  });

  test.each(['bash', 'zsh', 'fish'])('the completion for %s knows the verbs', (shell) => {
    expect(firstlight('completion', shell).out).toContain('ignition-configs');
  });

  test('bash itself completes a verb', () => {
    const script = `source <(${launcher} completion bash); COMP_WORDS=(firstlight create ig); COMP_CWORD=2; _firstlight; echo "\${COMPREPLY[@]}"`;
    expect(spawnSync('bash', ['-c', script], { encoding: 'utf8' }).stdout).toBe('ignition-configs\n');
  });

  test('the graph is what Graphviz and Mermaid begin with, and JSON names every asset', () => {
    expect(firstlight('graph').out).toMatch(/^strict digraph firstlight \{/);
    expect(firstlight('graph', '--format', 'mermaid').out).toMatch(/^graph LR\n/);
    const { assets } = JSON.parse(firstlight('graph', '-o', 'json').out) as { assets: { name: string }[] };
    expect(assets.map((asset) => asset.name)).toContain('bootstrap-ignition');
  });
});

describe('create ignition-configs', () => {
  test('works with no install-config at all, and a rerun changes no byte', () => {
    const dir = join(folder, 'fresh');
    expect(firstlight('create', 'ignition-configs', '--dir', dir)).toMatchObject({ code: 0, err: '' });
    const before = snapshot(dir);
    expect(Object.keys(before)).toEqual(
      expect.arrayContaining(['bootstrap.ign', 'master.ign', 'worker.ign', 'auth/kubeconfig', 'metadata.json']),
    );
    expect(firstlight('create', 'ignition-configs', '--dir', dir).out).toContain('nothing changed');
    expect(snapshot(dir)).toEqual(before);
  });

  test.each([
    ['a tab', 'metadata:\n\tname: x\n', ':2:1'],
    ['a duplicate key', 'baseDomain: a.test\nbaseDomain: b.test\n', ':2:1'],
    ['an octal-looking number', 'controlPlane:\n  replicas: 03\n', ':2:13'],
    ['an unknown field', 'controlPlan: {}\n', 'did you mean controlPlane?'],
    ['a wrong type', 'controlPlane:\n  replicas: three\n', ':2:13'],
    ['a name of 300 characters', `metadata:\n  name: ${'a'.repeat(300)}\n`, ':2:9'],
    ['overlapping networks', 'networking:\n  serviceNetwork: [10.130.0.0/16]\n', 'overlaps'],
    ['a name that is not DNS', 'metadata:\n  name: Demo_1\n', ':2:9'],
    ['two masters', 'controlPlane:\n  replicas: 2\n', ':2:13'],
    ['a bad SSH key', 'sshKey: ssh-rsa nonsense\n', ':1:9'],
  ])('refuses %s with its place, exit code 3, and writes nothing', (_what, text, expected) => {
    const dir = mkdtempSync(join(folder, 'bad-'));
    writeFileSync(join(dir, 'install-config.yaml'), text);
    const { code, out, err } = firstlight('create', 'ignition-configs', '--dir', dir);
    expect(err).toContain(expected);
    expect(code).toBe(3);
    expect(out).toBe('');
    expect(err).not.toMatch(/ {4}at .*:\d+:\d+/);
    expect(readFileSync(join(dir, 'install-config.yaml'), 'utf8')).toBe(text);
    expect(readdirSync(dir).filter((name) => name !== '.firstlight')).toEqual(['install-config.yaml']);
  });

  test('a read-only folder is one clear error', () => {
    const { code, err } = firstlightOn('mount -t tmpfs -o ro none "$DIR"', join(folder, 'ro'));
    expect(err).toContain('the file system is read-only');
    expect(code).toBe(4);
  });

  test('a full disk is one clear error and leaves no half-written file', () => {
    const { code, err } = firstlightOn('mount -t tmpfs -o size=64k none "$DIR"', join(folder, 'full'));
    expect(err).toContain('no space left on the disk');
    expect(err).not.toMatch(/ {4}at .*:\d+:\d+/);
    expect(code).toBe(4);
  });

  test('two at once in one folder: one works, the other is told who does', async () => {
    const dir = join(folder, 'twice');
    const start = (): Promise<Answer> =>
      new Promise((resolve) => {
        const child = spawn(launcher, ['create', 'ignition-configs', '--dir', dir]);
        let err = '';
        child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()));
        child.on('close', (code) => resolve({ code, out: '', err }));
      });
    const answers = await Promise.all([start(), start(), start()]);
    for (const { code, err } of answers.filter((answer) => answer.code !== 0)) {
      expect(code).toBe(4);
      expect(err).toContain('is working in');
    }
    expect(answers.some((answer) => answer.code === 0)).toBe(true);
    expect(firstlight('create', 'ignition-configs', '--dir', dir).out).toContain('nothing changed');
  });

  test.each(['SIGINT', 'SIGTERM', 'SIGKILL'] as const)(
    '%s in the middle: the same command finishes, with the same keys',
    async (signal) => {
      for (const delayMs of [150, 250, 350, 450]) {
        const dir = mkdtempSync(join(folder, 'killed-'));
        const child = spawn(launcher, ['create', 'ignition-configs', '--dir', dir], { stdio: 'ignore' });
        setTimeout(() => child.kill(signal), delayMs);
        const code = await new Promise((resolve) => child.on('close', resolve));
        // Either it was faster than we, or it stopped; SIGINT before its handler exists is the plain signal (null).
        if (signal !== 'SIGKILL') expect([0, 8, null]).toContain(code);
        const before = snapshot(dir);
        expect(firstlight('create', 'ignition-configs', '--dir', dir).code).toBe(0);
        const after = snapshot(dir);
        for (const path of Object.keys(before).filter((name) => name.startsWith('tls/')))
          expect(after[path]).toBe(before[path]);
      }
    },
  );
});

/** Content of every visible file, by path. */
function snapshot(dir: string): Record<string, string> {
  if (!existsSync(dir)) return {};
  const files = readdirSync(dir, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const paths = files.map((entry) => join(entry.parentPath, entry.name));
  return Object.fromEntries(
    paths
      .filter((path) => !path.includes('/staging/'))
      .map((path) => [path.slice(dir.length + 1), readFileSync(path, 'utf8')]),
  );
}
