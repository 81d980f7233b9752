// The script runs in the real shell of this host, over a folder that stands for a machine.
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { hostErrors } from '../../host/errors.ts';
import { fakeHost } from '../../host/fake/fake-host.ts';
import { realHost } from '../../host/real/real-host.ts';
import { type BundleContents, bundleContents } from '../bundle-contents.ts';
import { collectMachine } from './collect-machine.ts';
import type { GatheredMachine } from './gathered-machine.ts';
import { insideReader, insideScript } from './inside-script.ts';
import type { MachineCollector } from './machine-collector.ts';
import { machineCollectors } from './machine-collectors.ts';

const folder = mkdtempSync(join(tmpdir(), 'firstlight-gather-'));
mkdirSync(join(folder, 'state'));
const write = (name: string, content: string): void => writeFileSync(join(folder, 'state', name), content);
write('a.json', '{"a": 1}');
write('pool-tokens.json', '{"a": "hunter2222"}');
write('other.txt', 'not in the table');
write('b c.json', '{}');
symlinkSync('/etc/passwd', join(folder, 'state/link.json'));
afterAll(() => rmSync(folder, { recursive: true }));

const collectors: readonly MachineCollector[] = [
  {
    name: 'records',
    takes: 'files',
    parts: [{ kind: 'files', patterns: [`${folder}/state/*.json`], place: (path) => `state/${basename(path)}` }],
  },
  {
    name: 'programs',
    takes: 'what programs print',
    parts: [
      { kind: 'command', file: 'words.txt', command: 'echo "it\'s said"; echo and >&2; exit 3' },
      { kind: 'command', file: 'none.txt', command: 'no-such-program-here' },
      { kind: 'script', script: 'printf of-a-script | put units/x.txt' },
      { kind: 'journal', file: 'journals/x.log', units: ['x.service'], lines: 5 },
    ],
  },
];

const host = realHost();
const { signal } = new AbortController();
const running: GatheredMachine = {
  name: 'master-0',
  role: 'master',
  address: '10.99.0.11',
  state: 'running',
  shell: async () => ['sh'],
};
const own = 'control-plane/master-0';

async function collected(machine: GatheredMachine, from = host): Promise<BundleContents & { readonly look: string }> {
  const contents = bundleContents(host.clock);
  const look = await collectMachine({ host: from, machine, contents, signal, collectors, patienceMs: 5_000 });
  return { ...contents, look };
}

test('a machine that runs is asked by one script: files of the table, and what programs print', async () => {
  const { look, files, missed } = await collected(running);
  expect(look).toBe('inside');
  expect(files().get(`${own}/words.txt`)).toBe("it's said\nand\n");
  expect(files().get(`${own}/units/x.txt`)).toBe('of-a-script');
  expect(JSON.parse(files().get(`${own}/state/a.json`) ?? '')).toEqual({ a: 1 });
  const names = [...files().keys()].join();
  expect(names).not.toMatch(/token|other|link|b c/);
  expect(missed()).toContainEqual({ what: `${own}/none.txt`, reason: 'the machine has no such program' });
});

test('of a machine that is stopped, files and journals are read from outside', async () => {
  const stopped: GatheredMachine = {
    name: 'bootstrap',
    role: 'bootstrap',
    address: '10.99.0.10',
    state: 'stopped',
    outside: {
      files: host.files,
      journal: async (units, lines) => ['echo', `${lines} lines of ${units.join()}`],
      console: async () => ['true'],
    },
  };
  const { look, files, missed } = await collected(stopped);
  expect(look).toBe('its disk');
  expect(files().get('bootstrap/journals/x.log')).toBe('5 lines of x.service\n');
  expect(files().has('bootstrap/state/a.json')).toBe(true);
  expect([...files().keys()].join()).not.toMatch(/token|words/);
  expect(missed()).toContainEqual({ what: 'bootstrap, from inside', reason: 'it is stopped' });
});

test('what arrived before the script broke off is kept, and the reason is told', async () => {
  const broken = fakeHost({
    processes: {
      run: async (_program, _args, options) => {
        const content = Buffer.from('half').toString('base64');
        for (const line of [
          '@step programs',
          '@file 1.0 words.txt',
          content,
          '@end',
          '@file 1.2 units/y.txt',
          content,
        ]) {
          options?.onLine?.(line, 'stdout');
        }
        return { code: 255, signal: undefined, stdout: '', stderr: 'Connection reset\n', timedOut: false };
      },
    },
  });
  const { look, files, missed } = await collected(running, broken);
  expect(look).toBe('inside');
  expect(files()).toEqual(new Map([[`${own}/words.txt`, 'half']]));
  expect(missed()).toContainEqual({ what: 'master-0, from inside', reason: 'Connection reset' });
});

test('a machine that cannot be reached is listed with the reason', async () => {
  const shell = async () => {
    throw hostErrors.PROGRAM_MISSING({ program: 'ssh' });
  };
  const { look, missed } = await collected({ ...running, shell });
  expect(look).toBe('not at all');
  expect(missed()[0]?.reason).toMatch(/ssh/);
});

test('a hostile machine puts no file where the table has none', () => {
  const taken: string[] = [];
  const reader = insideReader(collectors, {
    onFile: (path) => taken.push(path),
    onMissed: () => {},
    onStep: () => {},
  });
  for (const header of ['9.9 words.txt', '1.0 other.txt', '0.0 /etc/shadow', `0.0 ${folder}/state/../x.json`, '']) {
    for (const line of [`@file ${header}`, 'AAAA', '@end']) reader.line(line);
  }
  expect(taken).toEqual([]);
  const contents = bundleContents(host.clock);
  for (const path of ['../a', '/a', 'a/../b', 'a\nb', '.', 'a b']) contents.add(path, 'x');
  expect(contents.files().size).toBe(0);
});

test('the script of all collectors is a script that the shell can read', async () => {
  const { code, stderr } = await host.processes.run('sh', ['-n'], { input: insideScript(machineCollectors, 5) });
  expect([code, stderr]).toEqual([0, '']);
});

test('no pattern of the table names a folder of keys', () => {
  const patterns = machineCollectors.flatMap(({ parts }) =>
    parts.flatMap((part) => (part.kind === 'files' ? part.patterns : [])),
  );
  expect(patterns.filter((pattern) => /pki|tls|auth\/|\.key|\/etc\/kubernetes\/\*|served/.test(pattern))).toEqual([]);
});
