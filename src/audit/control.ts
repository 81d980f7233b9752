// A control is a value: its number in the benchmark, why it matters, what to do where it fails, and its verdict as a
// pure function of facts. `audit`, `explain control` and docs/audit.md read the same table.
import type { AuditFacts } from './facts.ts';

/** The list of controls, and with it every number, is that of this version. Titles and reasons are our own words. */
export const benchmark = 'CIS Kubernetes benchmark 1.12';

export interface AuditFinding {
  /** A machine, a namespaced object, a path of the asset folder. */
  readonly where: string;
  /** What was seen there, as far as it is wrong. */
  readonly seen: string;
}

export type ControlVerdict =
  | { readonly result: 'pass' }
  | { readonly result: 'fail'; readonly findings: readonly AuditFinding[] }
  /** It does not concern this cluster, or the cluster does something else instead: the reason says what. */
  | { readonly result: 'not-applicable'; readonly reason: string }
  /** It could not be looked at. That counts as a failure: nobody knows that it is well. */
  | { readonly result: 'unknown'; readonly reason: string };

export type VerdictResult = ControlVerdict['result'];

export interface AuditControl {
  /** The number in the benchmark; those of our own begin with a letter. */
  readonly id: string;
  /** What holds when it passes. */
  readonly title: string;
  readonly why: string;
  /** What to do where it fails. */
  readonly remedy: string;
  readonly look: (facts: AuditFacts) => ControlVerdict;
}

/** What is known of a control before its look. */
export type ControlText = Omit<AuditControl, 'look'>;

export interface AuditArea {
  readonly name: string;
  readonly title: string;
  readonly controls: readonly AuditControl[];
}

export const passed: ControlVerdict = { result: 'pass' };

export function notApplicable(reason: string): ControlVerdict {
  return { result: 'not-applicable', reason };
}

export function failed(findings: readonly AuditFinding[]): ControlVerdict {
  return { result: 'fail', findings };
}

/** Passes when nothing was found. */
export function verdictOf(findings: readonly AuditFinding[]): ControlVerdict {
  return findings.length === 0 ? passed : failed(findings);
}

/** One verdict for several places: one that fails makes it fail, one that could not be looked at makes it unknown. */
export function combineVerdicts(verdicts: readonly (ControlVerdict & { readonly where: string })[]): ControlVerdict {
  const findings = verdicts.flatMap((verdict): readonly AuditFinding[] => {
    if (verdict.result === 'fail') return verdict.findings;
    return verdict.result === 'unknown' ? [{ where: verdict.where, seen: verdict.reason }] : [];
  });
  if (verdicts.some(({ result }) => result === 'fail')) return failed(findings);
  if (findings.length > 0) {
    return { result: 'unknown', reason: findings.map(({ where, seen }) => `${where}: ${seen}`).join('; ') };
  }
  return verdicts.find(({ result }) => result === 'not-applicable') ?? passed;
}
