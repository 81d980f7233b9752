// A bundle in a few lines: what failed first, the machines, and what could not be taken.
import { commandText } from '../../diagnose/diagnosis-lines.ts';
import type { BundleSummary } from '../../gather/summarize-bundle.ts';
import { alignColumns } from '../frame/columns.ts';

const shownReasons = 3;
const shownMissed = 6;

export function bundleText({ about, diagnosis, machines, services, missed }: BundleSummary): string {
  const told = diagnosis.reasons.filter(({ certainty }) => certainty !== 'waited').slice(0, shownReasons);
  const stages = services.flatMap(({ name, stages: own }) =>
    own.filter(({ state }) => state === 'failed').map(({ name: stage, error }) => `${name}: ${stage}: ${error ?? ''}`),
  );
  const units = machines.flatMap(({ name, failedUnits }) => failedUnits.map((unit) => `${name}: ${unit} has failed`));
  const failed = [
    ...(about?.failure === undefined ? [] : [`${about.failure.message}   (${about.failure.code})`]),
    ...told.flatMap(({ sentence, seen, next }) => [sentence, `  ${seen}`, `  ${commandText(next, '')}`]),
    ...stages,
    ...units,
  ];
  const rows = machines.map(({ name, role, address, state, look }) => [name, role, address, state, look]);
  const left = missed.length - shownMissed;
  return [
    `${about?.cluster ?? 'a cluster'} (${about?.infraId ?? ''}), ${about?.madeAt ?? ''}`,
    '',
    'failed first',
    ...(failed.length === 0 ? ['  nothing that was looked at'] : failed.map((line) => `  ${line}`)),
    '',
    alignColumns([['MACHINE', 'ROLE', 'ADDRESS', 'STATE', 'LOOKED AT'], ...rows]),
    ...(missed.length === 0 ? [] : ['not taken']),
    ...missed.slice(0, shownMissed).map(({ what, reason }) => `  ${what}: ${reason}`),
    ...(left > 0 ? [`  and ${left} more, in not-taken.json`] : []),
    '',
  ].join('\n');
}
