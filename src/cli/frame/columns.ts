// Rows of text as a table: columns of equal width, two blanks apart, no blanks at the end of a line. A row is one line,
// whatever its cells say.
import { shownLine } from '../../host/terminal-text.ts';

export function alignColumns(table: readonly (readonly string[])[], margin = ''): string {
  const rows = table.map((row) => row.map(shownLine));
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const line = (row: readonly string[]): string =>
    `${margin}${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')}`.trimEnd();
  return rows.map((row) => `${line(row)}\n`).join('');
}
