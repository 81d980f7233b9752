// What applying a set of manifests told and left: one transition per object and pass, and the sum at the end.
import type { ObjectReference } from './object.ts';

export type ApplyState =
  /** Made now. */
  | 'created'
  /** Was there; left as it is (or, with `force`, already as wanted). */
  | 'present'
  /** Fields changed by a forced apply. */
  | 'changed'
  /** Not possible yet, for a reason that passes by itself: its kind or namespace, or the API, is not there yet. */
  | 'waiting'
  /** Refused for a reason that will not pass. */
  | 'refused';

export interface ApplyEvent {
  readonly source: string;
  readonly object: ObjectReference | undefined;
  readonly state: ApplyState;
  /** `debug` for what is expected on the way, such as a kind that is not established yet. */
  readonly level: 'debug' | 'info' | 'warn';
  readonly reason?: string;
}

export interface AppliedObject {
  /** The file, or whatever the caller calls it. */
  readonly source: string;
  readonly object: ObjectReference | undefined;
  readonly state: ApplyState;
  readonly reason?: string;
}

export interface ApplyReport {
  /** Everything is there. */
  readonly isComplete: boolean;
  readonly objects: readonly AppliedObject[];
  /** One sentence per object that is not there. */
  readonly missing: readonly string[];
}
