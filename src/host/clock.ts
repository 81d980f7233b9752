// Time. `now` is the wall clock, which may jump; `monotonicMs` never goes back, so durations are measured with it.
export interface Clock {
  now(): Date;
  monotonicMs(): number;
  /** Resolves after `ms`; rejects with the signal's reason when aborted. Never leaves a timer behind. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** Calls `call` once after `ms`, unless disposed before. */
  after(ms: number, call: () => void): Disposable;
}
