// Every rule of merging by hand, against upstream's merge and against the fetch stage of the real binary, which renders
// a parent that refers to its child; and ignition-validate on a sample of the hand-written configs.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import type { IgnitionConfig } from '../../src/ignition/config.ts';
import { dataUrl } from '../../src/ignition/data-url.ts';
import { merge, mergeAll } from '../../src/ignition/merge.ts';
import { parseIgnition } from '../../src/ignition/parse.ts';
import { reportVerdict } from '../../src/ignition/report.ts';
import { serialize } from '../../src/ignition/serialize.ts';
import { validate } from '../../src/ignition/validate.ts';
import { pruned } from './ignition-agreement.ts';
import { luksCases } from './ignition-cases/luks.ts';
import { mergeCases } from './ignition-cases/merging.ts';
import { readingCases } from './ignition-cases/reading.ts';
import { resourceCases } from './ignition-cases/resources.ts';
import { storageCases } from './ignition-cases/storage.ts';
import { systemdCases } from './ignition-cases/systemd.ts';
import { disagreements } from './ignition-disagreements.ts';
import { askOracle } from './ignition-oracle.ts';
import { oracleProgram } from './programs.ts';

const folder = mkdtempSync(join(tmpdir(), 'firstlight-ignition-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function parsed(text: string): IgnitionConfig {
  const result = parseIgnition(text);
  if (result.status !== 'parsed') throw new Error(`not a valid config: ${JSON.stringify(result.report.errors)}`);
  return result.config;
}

/** The config with references to others, as data URLs. */
function referringTo(text: string, ...children: string[]): string {
  const config = parsed(text);
  const references = {
    config: { ...config.ignition.config, merge: children.map((child) => ({ source: dataUrl(child) })) },
  };
  return serialize({ ...config, ignition: { ...config.ignition, ...references } });
}

const written = (config: IgnitionConfig) => JSON.parse(serialize(config)) as Readonly<Record<string, object>>;

/** What the fetch stage makes of a config: its exit status and the rendered config without its version. */
function fetchStage(text: string): {
  readonly status: number | null;
  readonly rendered: unknown;
  readonly log: string;
} {
  const config = join(folder, 'config.ign');
  const cache = join(folder, 'cache.json');
  writeFileSync(config, text);
  rmSync(cache, { force: true });
  const names = {
    root: folder,
    'config-cache': cache,
    'state-file': join(folder, 'state'),
    neednet: join(folder, 'neednet'),
  };
  const run = spawnSync(
    oracleProgram('ignition'),
    [
      '--platform=file',
      '--stage=fetch',
      '--log-to-stdout',
      ...Object.entries(names).map(([name, path]) => `--${name}=${path}`),
    ],
    {
      env: { ...process.env, IGNITION_CONFIG_FILE: config, IGNITION_SYSTEM_CONFIG_DIR: join(folder, 'system') },
      encoding: 'utf8',
    },
  );
  const rendered = run.status === 0 ? withoutVersion(pruned(JSON.parse(readFileSync(cache, 'utf8')))) : undefined;
  return { status: run.status, rendered, log: `${run.stdout}${run.stderr}` };
}

function withoutVersion(config: unknown): unknown {
  const { ignition, ...rest } = config as { readonly ignition: Readonly<Record<string, unknown>> };
  const { version: _, ...others } = ignition;
  return Object.keys(others).length === 0 ? rest : { ignition: others, ...rest };
}

test.each(mergeCases)('$title', ({ parent, child, merged: expected }) => {
  const merged = merge(parsed(parent), parsed(child));
  expect(withoutVersion(written(merged))).toEqual(expected);
  const [answer] = askOracle([{ op: 'merge', parent, child }]);
  expect(pruned(answer?.config)).toEqual(written(merged));
});

test.each(mergeCases)('the fetch stage agrees: $title', ({ parent, child }) => {
  const referring = referringTo(parent, child);
  const merged = merge(parsed(referring), parsed(child));
  const { status, rendered, log } = fetchStage(referring);
  const isRefused = reportVerdict(validate(merged, { duplicates: false })) === 'error';
  expect({ status, log: status === (isRefused ? 1 : 0) ? '' : log }).toEqual({ status: isRefused ? 1 : 0, log: '' });
  expect(rendered).toEqual(isRefused ? undefined : withoutVersion(written(merged)));
});

test('references are merged depth first: a grandchild overrides its child, a later child an earlier one', () => {
  const file = (mode: number, extra: object = {}) =>
    JSON.stringify({
      ignition: { version: '3.4.0' },
      storage: { files: [{ path: '/x', mode, ...extra }, { path: `/${mode}` }] },
    });
  const [parent, grandchild, later] = [file(1, { user: { id: 7 } }), file(3), file(4)];
  const child = referringTo(file(2, { group: { id: 8 } }), grandchild);
  const referring = referringTo(parent, child, later);
  const expected = mergeAll([parsed(referring), mergeAll([parsed(child), parsed(grandchild)]), parsed(later)]);
  expect(fetchStage(referring).rendered).toEqual(withoutVersion(written(expected)));
  expect(expected.storage?.files?.[0]).toEqual({ path: '/x', user: { id: 7 }, group: { id: 8 }, mode: 4 });
});

test('merging changes neither parent nor child', () => {
  for (const { parent, child } of mergeCases) {
    const [older, newer] = [parsed(parent), parsed(child)];
    merge(older, newer);
    expect([older, newer]).toEqual([parsed(parent), parsed(child)]);
  }
});

test('ignition-validate refuses what we refuse', () => {
  const cases = [readingCases, resourceCases, storageCases, luksCases, systemdCases].flatMap((list) =>
    list.filter((_, index) => index % 12 === 0),
  );
  for (const { text, title } of cases) {
    const run = spawnSync(oracleProgram('ignition-validate'), ['-'], { input: text, encoding: 'utf8' });
    const expected = reportVerdict(parseIgnition(text).report) === 'error' ? 1 : 0;
    expect({ title, status: run.status }).toEqual({ title, status: expected });
  }
});

test.each(disagreements)('we differ on purpose: $title', ({ text, ours, theirs, newestSpec = '3.5' }) => {
  const [answer] = askOracle([{ op: 'validate', config: text, version: newestSpec }]);
  expect([reportVerdict(parseIgnition(text).report), answer?.verdict]).toEqual([ours, theirs]);
});

test('Ignition still loses the advertisement of a tang server between 3.4 and 3.5', () => {
  const tang = [{ url: 'http://a', thumbprint: 'b', advertisement: '{}' }];
  const config = JSON.stringify({
    ignition: { version: '3.4.0' },
    storage: { luks: [{ name: 'a', device: '/a', clevis: { tang } }] },
  });
  const [answer] = askOracle([{ op: 'convert-up', config }]);
  const converted = answer?.config as IgnitionConfig | undefined;
  expect(converted?.storage?.luks?.[0]?.clevis?.tang).toEqual([{ url: 'http://a', thumbprint: 'b' }]);
});
