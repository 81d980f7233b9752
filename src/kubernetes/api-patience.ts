// How calls of the API are made again while it is away for a moment: a master restarts, etcd has a new leader, or the
// load balancer still sends requests to a master that has just gone. Only for calls that may be made twice.
import type { Host } from '../host/host.ts';
import type { RetryOptions } from '../workflow/retry.ts';
import { isTransient } from './api-failure.ts';

const apiPauses = { attempts: 10, firstPauseMs: 250, maxPauseMs: 5_000 } as const;

export function apiPatience({
  host,
  signal,
}: {
  readonly host: Pick<Host, 'clock' | 'random'>;
  readonly signal: AbortSignal;
}): RetryOptions {
  return { host, signal, policy: apiPauses, isWorthRetrying: isTransient };
}
