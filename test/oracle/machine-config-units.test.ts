// Our units before the real systemd: it reads every unit of every role without a word, resolves what the units say
// about each other, and complains where our own checks complain.
import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { programs } from '../../src/contract/machine-paths.ts';
import type { MachineRole } from '../../src/contract/machine-role.ts';
import { attemptUnits } from '../../src/in-place/on-host/attempt-units.ts';
import { unitFindings } from '../../src/machine-config/unit-mistakes.ts';
import type { SoftwareFacts } from '../../src/machine-software/machine-software.ts';
import {
  baseSoftware,
  containerRuntimeSoftware,
  ignitionConfig,
  kubeletSoftware,
} from '../../src/machine-software/machine-software.ts';
import type { ServiceUnit } from '../../src/machine-software/unit.ts';
import { unitText } from '../../src/machine-software/unit.ts';
import { variable } from '../../src/machine-software/unit-escape.ts';
import { fullFacts, sampleFacts } from './machine-config-sample.ts';

const systemUnits = ['/usr/lib/systemd/system', '/lib/systemd/system'].find((folder) => existsSync(folder));
let root = '';

beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'firstlight-units-'));
  cpSync(systemUnits ?? '/usr/lib/systemd/system', join(root, 'usr/lib/systemd/system'), {
    recursive: true,
    verbatimSymlinks: true,
  });
  // verify looks whether each program can be executed.
  for (const program of [...Object.values(programs), '/bin/true']) {
    mkdirSync(join(root, dirname(program)), { recursive: true });
    writeFileSync(join(root, program), '#!/bin/sh\n');
    chmodSync(join(root, program), 0o755);
  }
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** What systemd says about the units, installed together; empty when it has nothing to say. */
function verify(units: Readonly<Record<string, string>>): { readonly status: number | null; readonly says: string } {
  const folder = join(root, 'etc/systemd/system');
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const [name, text] of Object.entries(units)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  const names = Object.keys(units).filter((name) => !name.includes('/'));
  const args = ['verify', `--root=${root}`, '--man=no', '--recursive-errors=yes', ...names];
  const run = spawnSync('systemd-analyze', args, { encoding: 'utf8' });
  if (run.error !== undefined) throw run.error;
  return { status: run.status, says: run.stderr };
}

/** Units and drop-ins of a machine, by path below /etc/systemd/system. */
function unitFiles(role: MachineRole, facts: SoftwareFacts): Readonly<Record<string, string>> {
  const parts = [baseSoftware(role, facts), containerRuntimeSoftware(facts), kubeletSoftware(role, facts)];
  return Object.fromEntries(
    (ignitionConfig(parts).systemd?.units ?? []).flatMap(({ name, contents, dropins = [] }) => [
      [name, contents ?? ''],
      ...dropins.map((dropin) => [`${name}.d/${dropin.name}`, dropin.contents ?? '']),
    ]),
  );
}

describe('systemd', () => {
  test.each<MachineRole>(['bootstrap', 'master', 'worker'])('reads every unit of a %s without a word', (role) => {
    expect(verify(unitFiles(role, sampleFacts))).toEqual({ status: 0, says: '' });
  });

  test.each<MachineRole>(['bootstrap', 'master', 'worker'])(
    'reads every unit and drop-in of a %s behind a proxy without a word',
    (role) => {
      const files = unitFiles(role, fullFacts);
      expect(Object.keys(files)).toContain('containerd.service.d/20-system-trust.conf');
      expect(Object.keys(files)).toContain('kubelet.service.d/10-proxy.conf');
      expect(verify(files)).toEqual({ status: 0, says: '' });
    },
  );

  test('reads the units of an attempt in place, beside those of a worker, without a word', () => {
    const { run, finish } = attemptUnits('5f0c9c9e-8a53-4f0c-9d3c-0a4f3c1f8f62');
    const program = run.text.match(/^ExecStart=(\S+)/m)?.[1] ?? '';
    mkdirSync(join(root, dirname(program)), { recursive: true });
    writeFileSync(join(root, program), '#!/bin/sh\n', { mode: 0o755 });
    const files = { ...unitFiles('worker', sampleFacts), [run.name]: run.text, [finish.name]: finish.text };
    expect(verify(files)).toEqual({ status: 0, says: '' });
  });

  test('would complain about a drop-in it does not understand', () => {
    const files = { ...unitFiles('worker', fullFacts), 'kubelet.service.d/30-x.conf': '[Service]\nNoSuch=1\n' };
    expect(verify(files).says).toContain('NoSuch');
  });

  test('reads whatever the builder writes, however odd the values', () => {
    const odd: ServiceUnit = {
      name: 'odd.service',
      why: 'Carries what a person may put into an argument. 100 % of it.',
      isEnabled: false,
      unit: { Description: '100 % "odd" \\ é' },
      service: {
        Type: 'oneshot',
        Environment: { QUOTE: 'a "b" \\ \'c\'', PERCENT: '%n', LINES: 'one\ntwo' },
        ExecStart: {
          program: '/bin/true',
          args: ['', ' ', '"', "'", '\\', '\\x41', '%i', '$HOME', '${HOME}', ';', '#', '\t', 'é', ['x', variable('Y')]],
        },
      },
    };
    expect(verify({ 'odd.service': unitText(odd) })).toEqual({ status: 0, says: '' });
  });

  test.each<[string, string]>([
    ['a line without =', '[Service]\nExecStart=/bin/true\noops\n'],
    ['a directive before any section', 'Description=x\n[Service]\nExecStart=/bin/true\n'],
    ['a broken section header', '[Unit\nDescription=x\n[Service]\nExecStart=/bin/true\n'],
    ['no ExecStart', '[Service]\nType=simple\n'],
    ['no [Service]', '[Unit]\nDescription=x\n'],
  ])('complains, as we do, about %s', (_, text) => {
    expect(verify({ 'bad.service': text }).says).not.toBe('');
    const { mistakes, missing } = unitFindings('bad.service', text);
    expect(mistakes.length + missing.length).toBeGreaterThan(0);
  });

  test.each<[string, string]>([
    ['continuations with comments inside', '[Service]\nExecStart=/bin/true \\\n# comment\n  a\n'],
    ['a section of another program', '[Service]\nExecStart=/bin/true\n[X-Fleet]\nA=b\n'],
    ['trailing blanks and tabs', '[Service]  \n\tExecStart = /bin/true\t\n'],
  ])('has nothing against %s, and neither have we', (_, text) => {
    expect(verify({ 'good.service': text })).toEqual({ status: 0, says: '' });
    expect(unitFindings('good.service', text)).toEqual({ mistakes: [], missing: [] });
  });
});
