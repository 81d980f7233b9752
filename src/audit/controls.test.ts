import { readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { benchmark } from './control.ts';
import { auditAreas, auditControls } from './controls.ts';

/** How many controls each section of the benchmark has. */
const sections: Readonly<Record<string, number>> = {
  '1.1': 21,
  '1.2': 30,
  '1.3': 7,
  '1.4': 2,
  2: 7,
  '3.1': 3,
  '3.2': 2,
  '4.1': 10,
  '4.2': 14,
  '4.3': 1,
  '5.1': 13,
  '5.2': 12,
  '5.3': 2,
  '5.4': 2,
  '5.5': 1,
  '5.6': 4,
};

test('every number of the benchmark has its control, in order, and none twice', () => {
  const expected = Object.entries(sections)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([section, count]) => Array.from({ length: count }, (_, index) => `${section}.${index + 1}`));
  expect(auditControls.map(({ id }) => id).filter((id) => /^\d/.test(id))).toEqual(expected);
});

const document = 'docs/audit.md';
const [begin, end] = ['<!-- the table of controls -->\n', '<!-- end of the table -->\n'];

test('docs/audit.md has the table of controls as it is', () => {
  const table = auditAreas
    .map(({ title, name, controls }) => {
      const rows = controls.map(({ id, title: holds, why }) => `| ${id} | ${holds} | ${why} |\n`);
      return `### ${title} (\`--area ${name}\`)\n\n| | holds | why |\n|---|---|---|\n${rows.join('')}`;
    })
    .join('\n');
  const text = readFileSync(document, 'utf8');
  const [before = '', rest = ''] = text.split(begin);
  const [, after = ''] = rest.split(end);
  const wanted = `${before}${begin}\n${table}\n${end}${after}`;
  if (process.env['FIRSTLIGHT_GOLDEN'] === 'update') writeFileSync(document, wanted);
  expect(text).toBe(wanted);
  expect(text).toContain(benchmark);
});
