// A stage is data that the engine, the journal and the screens read: its name, why it exists, and how it is done.
// `observe` decides from what can be seen whether there is anything to do, so a first run and a resume are one path.
import type { StageProgress } from '../contract/stage-progress.ts';
import type { Digest } from './digest.ts';

/** Digest per file or object, by the name people know it under. */
export type Digests = Readonly<Record<string, Digest>>;

/** What a stage had read and what it left, when it was last completed. */
export interface StageResult {
  /** By which a later observation sees that something changed; none where the stage looks at the world instead. */
  readonly inputs?: Digests;
  /** As the stage itself produced them. */
  readonly outputs?: Digests;
  /** Outputs that a person has changed since, and that were accepted as they are. */
  readonly edited?: Digests;
  /** One short fact for the screen, such as "14 certificates". */
  readonly note?: string;
}

export interface StageRecord extends StageResult {
  readonly stage: string;
  readonly inputs: Digests;
  readonly outputs: Digests;
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

export interface StageTools {
  readonly signal: AbortSignal;
  /** Reports what the stage does or waits for right now. */
  readonly report: (progress: StageProgress) => void;
}

export interface Stage<Context> {
  readonly name: string;
  readonly why: string;
  readonly observe: (context: Context, last: StageRecord | undefined) => Promise<StageObservation>;
  readonly run: (context: Context, tools: StageTools, last: StageRecord | undefined) => Promise<StageResult>;
}
