// Time as a value. `now` is the wall clock (may jump), `monotonicMs` never goes back: measure with it.
export interface Clock {
  now(): Date;
  /** The same in milliseconds since 1970, for those who ask thousands of times in a second. */
  nowMs(): number;
  monotonicMs(): number;
  /** Resolves after `ms`; rejects with the signal's reason when aborted. Never leaves a timer behind. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** Resolves when everything that is ready at this moment has had its turn; takes no time of its own. */
  turn(): Promise<void>;
  /** Calls back once after `ms` unless disposed before. */
  after(ms: number, call: () => void): Disposable;
}
