// Time as a value. `now` is the wall clock (may jump), `monotonicMs` never goes back: measure with it.
export interface Clock {
  now(): Date;
  monotonicMs(): number;
  /** Resolves after `ms`; rejects with the signal's reason when aborted. Never leaves a timer behind. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** Calls back once after `ms` unless disposed before. */
  after(ms: number, call: () => void): Disposable;
}
