// Options that a verb of a machine cannot do without: units and pods give them, a person may forget one.
import { cliErrors } from '../frame/errors.ts';

export function neededOption(verb: string, flag: string, value: string | undefined): string {
  if (value === undefined) throw cliErrors.USAGE({ command: `firstlight ${verb}`, reason: `${flag} is missing` });
  return value;
}
