// The scripts themselves, run by the shell, with a program of the test in the place of ours.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { programs } from '../contract/machine-paths.ts';
import { bootstrapScripts } from './bootstrap-scripts.ts';

const folder = mkdtempSync(join(tmpdir(), 'firstlight-scripts-'));
const program = join(folder, 'program');
writeFileSync(program, '#!/bin/sh\necho "$@"\n', { mode: 0o755 });
afterAll(() => rmSync(folder, { recursive: true }));

test('the scripts have the names of the document', () => {
  expect(bootstrapScripts.map(({ path }) => basename(path)).sort()).toEqual([
    'render-all.sh',
    'render-cvo.sh',
    'render-etcd.sh',
    'render-kcm.sh',
    'render-kube-apiserver.sh',
    'render-mco.sh',
    'render-scheduler.sh',
    'start-bootstrap.sh',
  ]);
});

test.each(bootstrapScripts.map(({ path, text }) => [basename(path, '.sh'), text] as const))(
  '%s.sh calls the verb of its name with the words that were typed',
  (name, text) => {
    const path = join(folder, name);
    writeFileSync(path, text.replace(programs.firstlight, program), { mode: 0o755 });
    expect(execFileSync(path, ['--show', 'two words'], { encoding: 'utf8' })).toBe(
      `bootkube ${name} --show two words\n`,
    );
  },
);
