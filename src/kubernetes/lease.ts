// Leader election on a coordination.k8s.io Lease, readable by client-go. Times in the Lease are for people only: a
// holder counts as gone when this process has seen no renewal for long enough on its own monotonic clock, so that
// clocks that disagree cannot make two leaders. A holder stops acting before another process can consider it gone.
import { FirstlightError, isError } from '../errors/firstlight-error.ts';
import type { Clock } from '../host/clock.ts';
import type { Host } from '../host/host.ts';
import { randomFraction } from '../host/random.ts';
import type { KubernetesClient } from './client.ts';
import { kubernetesErrors } from './errors.ts';
import { type Lease, type LeaseSpec, leaseReference, microTime } from './lease-object.ts';

export interface LeaseTimes {
  /** Without a renewal for this long a holder is gone. */
  readonly leaseMs: number;
  /** A holder that could not renew for this long stops acting. Less than `leaseMs`. */
  readonly renewMs: number;
  /** Between two tries. */
  readonly retryMs: number;
}

export const defaultLeaseTimes: LeaseTimes = { leaseMs: 15_000, renewMs: 10_000, retryMs: 2_000 };

export interface ElectionOptions {
  readonly client: KubernetesClient;
  readonly host: Pick<Host, 'clock' | 'random'>;
  readonly namespace: string;
  readonly name: string;
  /** Differs for every process that takes part, also for two runs on one machine. */
  readonly identity: string;
  readonly times?: LeaseTimes;
  readonly signal: AbortSignal;
  readonly onEvent?: (event: ElectionEvent) => void;
}

export type ElectionEvent =
  | { readonly kind: 'leading' }
  | { readonly kind: 'stopped'; readonly reason: string }
  | { readonly kind: 'following'; readonly holder: string }
  | { readonly kind: 'trouble'; readonly error: FirstlightError };

export interface Leadership {
  /** Aborted when the Lease is lost. */
  readonly signal: AbortSignal;
  /** To be checked right before every act: true only while no other process can hold the Lease. */
  readonly mayAct: () => boolean;
}

/**
 * Runs `work` while we hold the Lease, until it returns, throws, or the signal is aborted; then gives the Lease back.
 * When the Lease is lost, the signal of the work is aborted, and after the next election the work starts again.
 */
export async function leadWhile(
  options: ElectionOptions,
  work: (leadership: Leadership) => Promise<void>,
): Promise<void> {
  const { clock, random } = options.host;
  const times = options.times ?? defaultLeaseTimes;
  const candidate = new Candidate(options, times);
  try {
    for (;;) {
      options.signal.throwIfAborted();
      if (await candidate.tryOnce()) {
        const isDone = await runAsLeader(candidate, { ...options, times }, work);
        if (isDone) return;
      }
      await clock.sleep(times.retryMs * (1 + randomFraction(random) * 0.2), options.signal);
    }
  } finally {
    await candidate.release();
  }
}

/** True when the work came to its end by itself; false when the Lease was lost before. */
async function runAsLeader(
  candidate: Candidate,
  options: ElectionOptions & { readonly times: LeaseTimes },
  work: (leadership: Leadership) => Promise<void>,
): Promise<boolean> {
  const term = new Term(options.host.clock, options.times, candidate);
  options.onEvent?.({ kind: 'leading' });
  const over = new AbortController();
  const signal = AbortSignal.any([options.signal, term.signal]);
  const renewing = keepRenewing(candidate, term, {
    clock: options.host.clock,
    retryMs: options.times.retryMs,
    signal: AbortSignal.any([signal, over.signal]),
  });
  try {
    await work({ signal, mayAct: () => !signal.aborted && candidate.isHolderNow() });
    // Work whose signal was aborted may also return: it was interrupted, not finished.
    return !term.signal.aborted;
  } catch (error) {
    // Work whose signal was aborted may throw anything; other failures are its own.
    options.signal.throwIfAborted();
    if (!term.signal.aborted) throw error;
    return false;
  } finally {
    if (term.signal.aborted) options.onEvent?.({ kind: 'stopped', reason: String(term.signal.reason.message) });
    over.abort(new Error('the work is done'));
    term[Symbol.dispose]();
    await renewing;
  }
}

async function keepRenewing(
  candidate: Candidate,
  term: Term,
  { clock, retryMs, signal }: { readonly clock: Clock; readonly retryMs: number; readonly signal: AbortSignal },
): Promise<void> {
  try {
    for (;;) {
      await clock.sleep(retryMs, signal);
      if (await candidate.tryOnce(signal)) term.renewed();
      else if (!candidate.isHolder) term.end('another holds the Lease');
    }
  } catch (error) {
    // An unexpected error: the next election meets it again and throws it.
    if (!signal.aborted) term.end(`renewing failed: ${String(error)}`);
  }
}

/** One period of holding the Lease: ends by itself when there was no renewal for too long. */
class Term implements Disposable {
  readonly #over = new AbortController();
  readonly #clock: Clock;
  readonly #times: LeaseTimes;
  readonly #candidate: Candidate;
  #timer: Disposable;

  constructor(clock: Clock, times: LeaseTimes, candidate: Candidate) {
    this.#clock = clock;
    this.#times = times;
    this.#candidate = candidate;
    this.#timer = this.#arm();
  }

  get signal(): AbortSignal {
    return this.#over.signal;
  }

  renewed(): void {
    this.#timer[Symbol.dispose]();
    this.#timer = this.#arm();
  }

  end(reason: string): void {
    this.#over.abort(new Error(reason));
  }

  #arm(): Disposable {
    const leftMs = this.#candidate.renewedMs + this.#times.renewMs - this.#clock.monotonicMs();
    return this.#clock.after(Math.max(0, leftMs), () =>
      this.end(`the Lease could not be renewed for ${this.#times.renewMs / 1000} s`),
    );
  }

  [Symbol.dispose](): void {
    this.#timer[Symbol.dispose]();
  }
}

class Candidate {
  readonly #options: ElectionOptions;
  readonly #times: LeaseTimes;
  /** The last version of the Lease, and when we first saw it. */
  #seen: { readonly version: string; readonly atMs: number } | undefined;
  #held: Lease | undefined;
  #reportedHolder = '';
  /** When the last successful renewal was begun: no other process can have seen it earlier. */
  renewedMs = Number.NEGATIVE_INFINITY;

  constructor(options: ElectionOptions, times: LeaseTimes) {
    this.#options = options;
    this.#times = times;
  }

  get isHolder(): boolean {
    return this.#held !== undefined;
  }

  isHolderNow(): boolean {
    const ageMs = this.#options.host.clock.monotonicMs() - this.renewedMs;
    return this.isHolder && ageMs < this.#times.renewMs;
  }

  /** Takes or renews the Lease; false when another process holds it, or when the API did not answer. */
  async tryOnce(signal: AbortSignal = this.#options.signal): Promise<boolean> {
    const { clock } = this.#options.host;
    const startMs = clock.monotonicMs();
    const call = { signal, deadlineMs: Math.max(1_000, this.#times.renewMs / 2) };
    try {
      const held = await this.#takeOrRenew(call);
      this.#held = held;
      if (held !== undefined) this.renewedMs = startMs;
      return held !== undefined;
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof FirstlightError)) throw error;
      // Another process wrote first: the next try shows which.
      if (!isLostRace(error)) this.#options.onEvent?.({ kind: 'trouble', error });
      return false;
    }
  }

  async #takeOrRenew(call: Call): Promise<Lease | undefined> {
    const { client, namespace, name, identity, host } = this.#options;
    const present = await client.find<Lease>(leaseReference(namespace, name), call);
    const now = host.clock.now();
    const fresh = { ...this.#term(), renewTime: microTime(now) };
    if (present === undefined) {
      const { apiVersion, kind } = leaseReference(namespace, name);
      const spec = { ...fresh, acquireTime: microTime(now), leaseTransitions: 0 };
      return client.create({ apiVersion, kind, metadata: { name, namespace }, spec }, call);
    }
    this.#observe(present);
    const { spec } = present;
    if (spec.holderIdentity === identity) return client.replace({ ...present, spec: { ...spec, ...fresh } }, call);
    if (!this.#isFree(present)) {
      this.#reportHolder(spec.holderIdentity ?? '');
      return undefined;
    }
    const leaseTransitions = (spec.leaseTransitions ?? 0) + 1;
    return client.replace(
      { ...present, spec: { ...spec, ...fresh, acquireTime: microTime(now), leaseTransitions } },
      call,
    );
  }

  #term(): LeaseSpec {
    return {
      holderIdentity: this.#options.identity,
      leaseDurationSeconds: Math.ceil(this.#times.leaseMs / 1000),
    };
  }

  #observe({ metadata }: Lease): void {
    const version = metadata.resourceVersion ?? '';
    if (this.#seen?.version !== version) this.#seen = { version, atMs: this.#options.host.clock.monotonicMs() };
  }

  #isFree({ spec }: Lease): boolean {
    if (spec.holderIdentity === undefined || spec.holderIdentity === '') return true;
    // The holder's own duration counts, which may be longer than ours.
    const promisedMs = Math.max(this.#times.leaseMs, (spec.leaseDurationSeconds ?? 0) * 1000);
    const silentMs = this.#options.host.clock.monotonicMs() - (this.#seen?.atMs ?? 0);
    return silentMs >= promisedMs;
  }

  #reportHolder(holder: string): void {
    if (holder === this.#reportedHolder) return;
    this.#reportedHolder = holder;
    this.#options.onEvent?.({ kind: 'following', holder });
  }

  /** Best effort: without it the next holder waits until the Lease runs out. */
  async release(): Promise<void> {
    const held = this.#held;
    this.#held = undefined;
    if (held === undefined) return;
    const { client, namespace, name, identity } = this.#options;
    const call = { deadlineMs: 3_000 };
    try {
      // The last renewal may have been made although its answer was not waited for: what the API has now counts.
      const present = (await client.find<Lease>(leaseReference(namespace, name), call)) ?? held;
      if (present.spec.holderIdentity !== identity) return;
      const { holderIdentity: _, ...spec } = present.spec;
      await client.replace({ ...present, spec: { ...spec, leaseDurationSeconds: 1 } }, call);
    } catch (error) {
      if (!(error instanceof FirstlightError)) throw error;
      if (!isLostRace(error)) this.#options.onEvent?.({ kind: 'trouble', error });
    }
  }
}

interface Call {
  readonly signal: AbortSignal;
  readonly deadlineMs: number;
}

function isLostRace(error: unknown): boolean {
  return isError(error, kubernetesErrors.CONFLICT) || isError(error, kubernetesErrors.ALREADY_EXISTS);
}
