// A stage is data: who reads it (engine, journal, terminal, explain, docs) reads the same value.
// `observe` decides from what can be seen whether there is anything to do, so that a first run and a resume are one path.
import type { Digest } from './digest.ts';

/** Digest per produced file or object, by the name people know it under. */
export type Outputs = Readonly<Record<string, Digest>>;

/** What the journal remembers of the last time a stage was completed. */
export interface StageRecord {
  readonly stage: string;
  /** Digest of everything the stage had read. */
  readonly fingerprint: Digest;
  readonly outputs: Outputs;
  readonly at: string;
  readonly note?: string;
}

export type StageObservation =
  | { readonly status: 'done' }
  /** Done, but the journal does not know it in this form yet (a person edited an output, say). */
  | { readonly status: 'adopt'; readonly fingerprint: Digest; readonly outputs: Outputs; readonly note: string }
  | { readonly status: 'needed'; readonly because: string };

export interface StageResult {
  readonly fingerprint: Digest;
  readonly outputs: Outputs;
  /** One short fact for the screen, such as "14 certificates". */
  readonly note?: string;
}

export interface Check<Context> {
  readonly name: string;
  /** What is wrong, or undefined when all is well. */
  readonly run: (context: Context, result: StageResult) => Promise<string | undefined>;
}

export interface Stage<Context> {
  readonly name: string;
  readonly number?: number;
  readonly why: string;
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
  /** What must hold before it can run, in words; shown while it waits. */
  readonly waitsFor?: readonly string[];
  readonly observe: (context: Context, last: StageRecord | undefined) => Promise<StageObservation>;
  readonly run: (context: Context, tools: StageTools) => Promise<StageResult>;
  readonly verify: readonly Check<Context>[];
}

export interface StageTools {
  readonly signal: AbortSignal;
  /** Says what the stage is doing or missing right now. */
  readonly report: (progress: string) => void;
}
