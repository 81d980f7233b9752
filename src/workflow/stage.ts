// A stage is data: who reads it (engine, journal, terminal, explain, docs) reads the same value.
// `observe` decides from what can be seen whether there is anything to do, so that a first run and a resume are one path.
import type { Digest } from './digest.ts';
import type { StageProgress } from '../contract/stage-progress.ts';

/** Digest per file or object, by the name people know it under. */
export type Digests = Readonly<Record<string, Digest>>;

/** What a stage had read and what it left, when it was last completed. */
export interface StageResult {
  readonly inputs: Digests;
  /** As the stage itself produced them. */
  readonly outputs: Digests;
  /** Outputs that a person has changed since, and that were accepted as they are. */
  readonly edited?: Digests;
  /** One short fact for the screen, such as "14 certificates". */
  readonly note?: string;
}

export interface StageRecord extends StageResult {
  readonly stage: string;
  /** When it was completed. */
  readonly at: string;
  /** When it was begun; missing where it was found done. */
  readonly began?: string;
}

export type StageObservation =
  | { readonly status: 'done' }
  /** Done, but not in the form the journal knows: a person edited an output, say. */
  | { readonly status: 'adopt'; readonly result: StageResult; readonly note: string }
  | { readonly status: 'needed'; readonly because: string };

export interface StageCheck<Context> {
  readonly name: string;
  /** What is wrong, or undefined when all is well. */
  readonly run: (context: Context, result: StageResult) => Promise<string | undefined>;
}

export interface StageTools {
  readonly signal: AbortSignal;
  /** Reports what the stage does or waits for right now. */
  readonly report: (progress: StageProgress) => void;
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
  readonly run: (context: Context, tools: StageTools, last: StageRecord | undefined) => Promise<StageResult>;
  readonly verify: readonly StageCheck<Context>[];
}
