// How a document is held to the code: a table of its lines, each with what it asks for and the tests that prove it. Lines
// are numbered as in the document; blank ones and the marks of a code block ask for nothing. A test that is renamed or
// removed without a successor makes the file of its document fail.
import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

export interface SeedLine {
  /** One line, or the first and the last of several. */
  readonly lines: readonly [number] | readonly [number, number];
  readonly asks: string;
  /** File → the titles of tests in it. */
  readonly provenBy: Readonly<Record<string, readonly string[]>>;
}

export function proveLines(seed: readonly SeedLine[]): void {
  const rows = seed.map((line) => [line.lines.join(' to '), line.asks, line.provenBy] as const);
  test.each(rows)('line %s: %s', (_lines, _asks, provenBy) => {
    expect(Object.keys(provenBy)).not.toHaveLength(0);
    for (const [file, titles] of Object.entries(provenBy)) {
      expect(existsSync(file), file).toBe(true);
      expect(titles, file).not.toHaveLength(0);
      const text = readFileSync(file, 'utf8');
      for (const title of titles) expect(isTitleIn(text, title), `${file}: ${title}`).toBe(true);
    }
  });
}

/** As a whole string of the file: a piece of code, or half a sentence, is no title. */
function isTitleIn(text: string, title: string): boolean {
  return ["'", '"', '`'].some((quote) => text.includes(`${quote}${title}${quote}`));
}

/** Lines that are met in another way or not yet, as docs/seeds.md names them: `003:298`. */
export function nameDifferences(lines: readonly string[]): void {
  test.each(lines)('%s: the difference and its reason stand in docs/seeds.md', (line) => {
    const rows = readFileSync('docs/seeds.md', 'utf8').split('\n');
    const row = rows.find((text) => (text.split('|')[1] ?? '').includes(line));
    expect(row?.split('|').filter((cell) => cell.trim() !== '')).toHaveLength(3);
  });
}
