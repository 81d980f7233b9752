// Retries with growing pauses and jitter. Only failures that the caller names in `isWorthRetrying` are retried.
import type { Clock } from '../host/clock.ts';
import { type Random, randomFraction } from '../host/random.ts';

export interface RetryPolicy {
  readonly attempts: number;
  readonly firstPauseMs: number;
  readonly maxPauseMs: number;
}

export interface RetryOptions {
  readonly host: { readonly clock: Clock; readonly random: Random };
  readonly policy: RetryPolicy;
  readonly isWorthRetrying: (error: unknown) => boolean;
  readonly signal?: AbortSignal;
  readonly onRetry?: (error: unknown, attempt: number, pauseMs: number) => void;
}

export async function retry<T>(options: RetryOptions, attempt: (number: number) => Promise<T>): Promise<T> {
  const { host, policy, signal } = options;
  for (let number = 1; ; number += 1) {
    signal?.throwIfAborted();
    try {
      return await attempt(number);
    } catch (error) {
      if (number >= policy.attempts || !options.isWorthRetrying(error)) throw error;
      const pauseMs = pauseBefore(policy, number, host.random);
      options.onRetry?.(error, number, pauseMs);
      await host.clock.sleep(pauseMs, signal);
    }
  }
}

/** Doubles with each attempt up to the limit. Half of it is random, so that many clients do not retry together. */
export function pauseBefore(policy: RetryPolicy, attempt: number, random: Random): number {
  const ceilingMs = Math.min(policy.maxPauseMs, policy.firstPauseMs * 2 ** (attempt - 1));
  return ceilingMs / 2 + (ceilingMs / 2) * randomFraction(random);
}
