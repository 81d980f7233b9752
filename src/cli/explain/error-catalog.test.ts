import { globSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { errorCatalog, errorTables } from './error-catalog.ts';

const sources = globSync('src/**/*.ts')
  .filter((path) => !path.endsWith('.test.ts'))
  .map((path) => readFileSync(path, 'utf8'));

/** `isError(error, table.ROW)` catches a row; it does not throw one. */
const withoutCatches = sources
  .map((text) => text.replaceAll(/\bisError\(\s*[\w.]+,\s*\w+\.\w+,?\s*\)/gu, ''))
  .join('\n');

describe('the error catalogue', () => {
  test('holds every error table of src/', () => {
    const declared = sources.flatMap((text) =>
      [...text.matchAll(/(\w+) = errorTable\(/gu)].map((match) => match[1] ?? ''),
    );
    expect(declared.length).toBeGreaterThan(10);
    expect(Object.keys(errorTables).sort()).toEqual(declared.sort());
  });

  test('holds no row that nothing in src/ can throw', () => {
    const used = new Set(
      [...withoutCatches.matchAll(/\b(\w+Errors\.[A-Z][A-Z\d_]*)\b/gu)].map((match) => match[1] ?? ''),
    );
    const rows = Object.entries(errorTables).flatMap(([table, rows]) =>
      Object.keys(rows).map((row) => `${table}.${row}`),
    );
    expect(rows.filter((row) => !used.has(row))).toEqual([]);
  });

  test('gives every row a code of its own', () => {
    const rows = Object.values(errorTables).flatMap((table) => Object.keys(table));
    expect(errorCatalog().size).toBe(rows.length);
  });
});
