import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { attemptSecretKeys, preflightIds } from '../../contract/in-place.ts';
import { phaseTable } from '../../in-place/phases.ts';
import { preflightChecks } from '../../in-place/preflight/checks.ts';
import { explainPreflight } from './explain-preflight.ts';

const page = readFileSync('docs/in-place.md', 'utf8');

test('there is a check for every id, in their order', () => {
  expect(preflightChecks.map(({ id }) => id)).toEqual([...preflightIds]);
});

test('docs/in-place.md has the checks as they are', () => {
  const rows = preflightChecks.map(({ id, title, why }) => `| ${id} | ${title} | ${why} |`);
  expect(page).toContain(['| id | what must be so | why |', '|---|---|---|', ...rows, ''].join('\n'));
});

test('docs/in-place.md names every key of the Secret, and every code that a limit ends with', () => {
  for (const key of Object.keys(attemptSecretKeys)) expect(page).toContain(`\`${key}\``);
  const picture = readFileSync('docs/in-place.svg', 'utf8');
  for (const { onLimit } of Object.values(phaseTable)) expect(picture).toContain(onLimit?.code ?? '');
});

test('a check is found by its id, also as messages write it', () => {
  expect(explainPreflight('ipb-p05').text).toContain('P05: the clock is right');
  expect(() => explainPreflight('P99')).toThrow('there is no check P99');
});
