// A check is a value: what it is called, why it can hold a cluster up, what it looks at, and its verdict as a pure
// function of facts. `diagnose`, the stall of a long command and the docs read the same table.
import type { DiagnosisFacts } from './facts.ts';

export interface DiagnosisFinding {
  /** Undefined when it concerns the cluster as a whole. */
  readonly machine?: string;
  /** What is wrong, on which machine: one sentence without a full stop. */
  readonly sentence: string;
  /** What was measured. */
  readonly seen: string;
  readonly next: NextCommand;
}

/** `firstlight VERB [--dir …] REST`: kept apart, because only who prints it knows the folder. */
export interface NextCommand {
  readonly verb: string;
  readonly rest: string;
}

/**
 * `measured`: it was tried, and it fails. `reported`: somebody in the cluster says so. `waited`: all that is known is
 * what somebody waits for, which is rarely the cause.
 */
export type Certainty = 'measured' | 'reported' | 'waited';

export interface DiagnosisCheck {
  readonly name: string;
  readonly why: string;
  readonly looksAt: string;
  readonly certainty: Certainty;
  readonly find: (facts: DiagnosisFacts) => readonly DiagnosisFinding[];
}
