// A check is a value: its name, why it can delay a cluster, what it looks at, and its findings as a pure function of
// facts. `diagnose` and the commands that wait read the same table.
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

/** `firstlight VERB [--dir …] REST`: in two parts, because only the caller that prints it knows the folder. */
export interface NextCommand {
  readonly verb: string;
  readonly rest: string;
}

/**
 * `measured`: it was tried, and it fails. `reported`: a component of the cluster reports it. `waited`: it is only known
 * what a machine waits for, which is rarely the cause.
 */
export type Certainty = 'measured' | 'reported' | 'waited';

export interface DiagnosisCheck {
  readonly name: string;
  readonly why: string;
  readonly looksAt: string;
  readonly certainty: Certainty;
  readonly find: (facts: DiagnosisFacts) => readonly DiagnosisFinding[];
}
