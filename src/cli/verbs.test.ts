import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { requestedHelp } from './frame/help.ts';
import { verbTable } from './verbs.ts';

const verbs = await Promise.all(verbTable.rows.map(async (row) => ({ row, verb: await row.load() })));

/** What importing a file loads at once: packages by name, files by path. Types and `await import` load nothing. */
function loadedWith(path: string, seen = new Set<string>()): ReadonlySet<string> {
  if (seen.has(path)) return seen;
  seen.add(path);
  if (!path.endsWith('.ts')) return seen;
  const imports = readFileSync(path, 'utf8').matchAll(/^(?:import|export) (?!type )[^;]*?from '(?<from>[^']+)';/gm);
  for (const { groups } of imports) {
    const from = groups?.['from'] ?? '';
    loadedWith(from.startsWith('.') ? join(dirname(path), from) : from, seen);
  }
  return seen;
}

const verbFiles = globSync('src/cli/**/*.ts').filter(
  (path) => !path.endsWith('.test.ts') && readFileSync(path, 'utf8').includes('= defineVerb('),
);

describe('the table of verbs', () => {
  test('names every verb once', () => {
    const words = verbTable.rows.map((row) => row.words);
    expect(words).toEqual([...new Set(words)]);
  });

  test('has a summary for every group with verbs that help lists, and for no other', () => {
    const groups = verbTable.rows
      .filter(({ words, isHidden }) => words.includes(' ') && isHidden !== true)
      .map(({ words }) => words.split(' ')[0] ?? '');
    expect(Object.keys(verbTable.groups).sort()).toEqual([...new Set(groups)].sort());
  });

  test.each(verbs)('$row.words has examples that begin with its words', ({ row, verb }) => {
    expect(verb.examples.length).toBeGreaterThan(0);
    expect(verb.examples.filter((example) => example.includes(`firstlight ${row.words}`))).not.toEqual([]);
  });

  test.each(verbs)('$row.words names every option as its long flag does', ({ verb }) => {
    for (const [name, { flags }] of Object.entries(verb.options ?? {})) {
      const long = /--(?:no-)?(?<long>[a-z-]+)/.exec(flags)?.groups?.['long'] ?? '';
      expect(name).toBe(long.replaceAll(/-[a-z]/g, (letter) => letter.slice(1).toUpperCase()));
    }
  });

  test.each(verbs)('$row.words has help that names its words', async ({ row }) => {
    const help = await requestedHelp(['help', ...row.words.split(' '), '--help'], verbTable, 80);
    expect(help).toContain(`Usage: firstlight ${row.words}`);
  });

  test.each(verbFiles)('%s loads nothing heavy before its body runs', (path) => {
    const loaded = [...loadedWith(path)];
    expect(loaded.filter((one) => !one.endsWith('.ts') && !one.startsWith('node:') && one !== 'ipaddr.js')).toEqual([]);
    expect(loaded.length).toBeLessThan(20);
  });

  test.each([
    'src/cli/frame/run.ts',
    'src/cli/frame/parser.ts',
    'src/cli/frame/print.ts',
    'src/screen/reporter.ts',
    'src/workflow/errors.ts',
    'src/host/real/real-host.ts',
  ])('%s, which every process loads, does not load zod', (path) => {
    expect([...loadedWith(path)]).not.toContain('zod');
  });
});
