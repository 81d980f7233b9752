// The verdict of every control about the same facts. A pure function: the same facts always give the same report.
import type { AuditArea, ControlText, ControlVerdict, VerdictResult } from './control.ts';
import { auditAreas } from './controls.ts';
import type { AuditFacts } from './facts.ts';

export type JudgedControl = ControlText & { readonly area: string } & ControlVerdict;

export interface AuditReport {
  readonly controls: readonly JudgedControl[];
  readonly counts: Readonly<Record<VerdictResult, number>>;
  /** Nothing fails, and everything could be looked at. */
  readonly isWell: boolean;
}

/** `only`: the numbers of the controls to look at; all when left out. */
export function audit(
  facts: AuditFacts,
  only: (id: string, area: string) => boolean = () => true,
  areas: readonly AuditArea[] = auditAreas,
): AuditReport {
  const controls = areas.flatMap(({ name: area, controls: all }) =>
    all
      .filter(({ id }) => only(id, area))
      .map(({ look, ...text }): JudgedControl => ({ area, ...text, ...look(facts) })),
  );
  const counts = countResults(controls);
  return { controls, counts, isWell: counts.fail + counts.unknown === 0 };
}

export function countResults(
  controls: readonly Pick<ControlVerdict, 'result'>[],
): Readonly<Record<VerdictResult, number>> {
  const count = (result: VerdictResult): number => controls.filter((control) => control.result === result).length;
  return {
    pass: count('pass'),
    fail: count('fail'),
    'not-applicable': count('not-applicable'),
    unknown: count('unknown'),
  };
}
