// Derives reasons from facts, the likeliest first. A pure function: the same facts always give the same list.
import type { Certainty, DiagnosisCheck, DiagnosisFinding } from './check.ts';
import { checks } from './checks.ts';
import type { DiagnosisFacts } from './facts.ts';

export interface Reason extends DiagnosisFinding {
  readonly check: string;
  readonly certainty: Certainty;
}

const certainties: readonly Certainty[] = ['measured', 'reported', 'waited'];

/** Sorted by certainty; then machines that are waited for before others; then in the order of the table of checks. */
export function diagnose(facts: DiagnosisFacts, table: readonly DiagnosisCheck[] = checks): readonly Reason[] {
  const reasons = table.flatMap(({ name, certainty, find }) =>
    find(facts).map((finding): Reason => ({ check: name, certainty, ...finding })),
  );
  const isWaitedFor = ({ machine }: Reason): boolean =>
    machine !== undefined &&
    facts.missing.some(({ who, machines = [] }) => who === machine || machines.includes(machine));
  const rank = (reason: Reason): number =>
    certainties.indexOf(reason.certainty) * 2 + (isWaitedFor(reason) || reason.machine === undefined ? 0 : 1);
  return reasons.toSorted((a, b) => rank(a) - rank(b));
}
