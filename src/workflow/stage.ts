// The interface of a stage: its name, why it exists, and how it is done. Engine, journal and screens read it as data.
// `observe` decides from the current state whether there is work, so a first run and a resume take the same path.
import type { StageProgress } from '../contract/stage-progress.ts';
import type { Digest } from './digest.ts';

/** One digest per file or object. The key is the name that people use for it. */
export type Digests = Readonly<Record<string, Digest>>;

/** What a stage had read and written when it was last completed. */
export interface StageResult {
  /** A later observation compares them to find changes. None if the stage observes the real state instead. */
  readonly inputs?: Digests;
  /** The outputs as the stage itself produced them. */
  readonly outputs?: Digests;
  /** Outputs that a person changed later and that were accepted. */
  readonly edited?: Digests;
  /** One short fact for the screen, such as "14 certificates". */
  readonly note?: string;
}

export interface StageRecord extends StageResult {
  readonly stage: string;
  readonly inputs: Digests;
  readonly outputs: Digests;
  /** When the stage was completed. */
  readonly at: string;
  /** When the stage was started; absent if it was already done when it was observed. */
  readonly began?: string;
}

export type StageObservation =
  | { readonly status: 'done' }
  /** Done, but different from the journal; for example, a person edited an output. */
  | { readonly status: 'adopt'; readonly result: StageResult; readonly note: string }
  | { readonly status: 'needed'; readonly because: string };

export interface StageTools {
  readonly signal: AbortSignal;
  /** Reports what the stage does or waits for now. */
  readonly report: (progress: StageProgress) => void;
}

export interface Stage<Context> {
  readonly name: string;
  readonly why: string;
  readonly observe: (context: Context, last: StageRecord | undefined) => Promise<StageObservation>;
  readonly run: (context: Context, tools: StageTools, last: StageRecord | undefined) => Promise<StageResult>;
}
