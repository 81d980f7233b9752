// `firstlight explain error [CODE]`
import { cliErrors } from '../frame/errors.ts';
import { exitCodeHelp } from '../frame/help.ts';
import { nearestName } from '../frame/nearest-name.ts';
import type { CommandResult } from '../frame/verb.ts';
import { errorCatalog } from './error-catalog.ts';

export function explainError(code: string | undefined): CommandResult {
  const catalog = errorCatalog();
  if (code === undefined) {
    const codes = [...catalog.keys()].sort();
    const width = Math.max(...codes.map((each) => each.length));
    const rows = codes.map((each) => `${each.padEnd(width)}  ${catalog.get(each)?.row.means ?? ''}\n`);
    return { data: codes, text: rows.join('') };
  }
  const found = catalog.get(code.toUpperCase());
  if (found === undefined) {
    const nearest = nearestName(code.toUpperCase(), catalog.keys());
    const reason = `there is no error ${code}${nearest === undefined ? '' : `; did you mean ${nearest}?`}`;
    throw cliErrors.USAGE({ reason, command: 'firstlight explain error' });
  }
  const { means, exit, hint } = found.row;
  const advice = typeof hint === 'string' ? hint : undefined;
  const meaning = exitCodeHelp.find(([number]) => number === exit)?.[1] ?? '';
  const text = [
    found.code,
    '',
    `  ${means}`,
    ...(advice === undefined ? [] : [`  ${advice}`]),
    '',
    `  exit code ${exit}: ${meaning}`,
    '',
  ];
  return {
    data: { code: found.code, means, exit, ...(advice === undefined ? {} : { hint: advice }) },
    text: text.join('\n'),
  };
}
