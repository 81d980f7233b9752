// `firstlight explain control [ID]`: everything is read from the value of the control.
import { type AuditControl, benchmark } from '../../audit/control.ts';
import { auditAreas, auditControls } from '../../audit/controls.ts';
import { alignColumns } from '../frame/columns.ts';
import { cliErrors } from '../frame/errors.ts';
import { nearestName } from '../frame/nearest-name.ts';
import type { CommandResult } from '../frame/verb.ts';

export function explainControl(id: string | undefined): CommandResult {
  if (id === undefined) {
    const data = auditAreas.flatMap(({ name: area, controls }) =>
      controls.map(({ look: _look, ...control }) => ({ area, ...control })),
    );
    return { data, text: alignColumns(data.map((control) => [control.id, control.title])) };
  }
  const { look: _look, ...data } = controlNamed(id, 'firstlight explain control');
  const text = [
    `${data.id}: ${data.title}`,
    '',
    `  why            ${data.why}`,
    `  where it fails ${data.remedy}`,
    `  in             ${/^\d/.test(data.id) ? benchmark : 'firstlight; not in the benchmark'}`,
    '',
  ];
  return { data, text: text.join('\n') };
}

/** The control of that number; `command` is what was typed, for the error. */
export function controlNamed(id: string, command: string): AuditControl {
  const found = auditControls.find((control) => control.id.toLowerCase() === id.toLowerCase());
  if (found !== undefined) return found;
  const nearest = nearestName(
    id,
    auditControls.map((control) => control.id),
  );
  const reason = `there is no control ${id}${nearest === undefined ? '' : `; did you mean ${nearest}?`}`;
  throw cliErrors.USAGE({ reason, command });
}
