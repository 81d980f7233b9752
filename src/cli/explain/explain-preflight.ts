// `firstlight explain preflight [ID]`: the checks before an attempt, read from their table. docs/in-place.md has the
// same rows, and explain-preflight.test.ts fails when the two differ.
import { preflightChecks } from '../../in-place/preflight/checks.ts';
import { alignColumns } from '../frame/columns.ts';
import { cliErrors } from '../frame/errors.ts';
import type { CommandResult } from '../frame/verb.ts';

export function explainPreflight(id: string | undefined): CommandResult {
  const data = preflightChecks.map((check) => ({ id: check.id, title: check.title, why: check.why }));
  if (id === undefined) return { data, text: alignColumns(data.map(({ id: name, title }) => [name, title])) };
  const wanted = id.toUpperCase().replace(/^IPB-/, '');
  const found = data.find((check) => check.id === wanted);
  if (found === undefined) {
    const reason = `there is no check ${id}; there are ${data.map((check) => check.id).join(', ')}`;
    throw cliErrors.USAGE({ reason, command: 'firstlight explain preflight' });
  }
  return { data: found, text: `${found.id}: ${found.title}\n\n  why  ${found.why}\n` };
}
