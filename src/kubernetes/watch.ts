// Follows all objects of a kind: list once, then watch from there. It yields the whole current state each time, so a
// reader applies no changes, and a slow reader gets only the newest state. Broken, silent or outdated watches are
// reopened here; the reader is told through `onTrouble` only.
import { type Missing, waitingFor } from '../contract/missing.ts';
import { FirstlightError, isError } from '../errors/firstlight-error.ts';
import type { Clock } from '../host/clock.ts';
import type { Host } from '../host/host.ts';
import { workflowErrors } from '../workflow/errors.ts';
import { pauseBefore } from '../workflow/retry.ts';
import type { Observation } from '../workflow/wait.ts';
import { failureOfStatus } from './api-failure.ts';
import type { KubernetesClient, ListOptions, Selection } from './client.ts';
import { kubernetesErrors } from './errors.ts';
import type { KubernetesObject, ObjectKind } from './object.ts';

export interface WatchSource extends Pick<ListOptions, 'pageSize' | 'keep'> {
  readonly kind: ObjectKind;
  readonly selection?: Selection;
}

export interface WatchOptions extends WatchSource {
  readonly client: KubernetesClient;
  readonly host: Pick<Host, 'clock' | 'random'>;
  readonly signal: AbortSignal;
  /** Called for every failure; the watch goes on by itself. */
  readonly onTrouble?: (error: FirstlightError) => void;
  /** A watch without a byte for this long is dead: reopened. Default 30 s. */
  readonly idleMs?: number;
}

const idleMsDefault = 30_000;
const pauses = { attempts: 0, firstPauseMs: 100, maxPauseMs: 5_000 };
/** After so many failures in a row it lists again: etcd may have been restored, and our version unknown to it. */
const failuresBeforeRelist = 3;

/** The current objects, now and after every change. Ends only by throwing the reason of the signal, or by `return`. */
export async function* watchObjects<T extends KubernetesObject>(
  options: WatchOptions,
): AsyncGenerator<readonly T[], never> {
  for await (const seen of watchTogether(options, { objects: options })) yield seen.objects as readonly T[];
  throw new Error('a watch ends only by throwing');
}

export interface TogetherOptions extends Omit<WatchOptions, keyof WatchSource> {
  /** Yields the state again after this long even if nothing changed, for decisions that depend on time. */
  readonly tickMs?: number;
}

/** The same for several kinds at once: one state of all of them, first when each has been listed. */
export async function* watchTogether<K extends string>(
  options: TogetherOptions,
  sources: Readonly<Record<K, WatchSource>>,
): AsyncGenerator<Readonly<Record<K, readonly KubernetesObject[]>>, never> {
  const stop = new AbortController();
  const signal = AbortSignal.any([options.signal, stop.signal]);
  const latest = new Latest<Readonly<Record<K, readonly KubernetesObject[]>>>();
  const names = Object.keys(sources) as K[];
  const state = new Map<K, readonly KubernetesObject[]>();
  const publish = (): void => {
    if (state.size === names.length) latest.put(Object.fromEntries(state) as Record<K, readonly KubernetesObject[]>);
  };
  const following = names.map((name) =>
    follow({ ...options, ...sources[name], signal }, (items) => {
      state.set(name, items);
      publish();
    }).catch((error: unknown) => latest.fail(error)),
  );
  const { tickMs } = options;
  if (tickMs !== undefined) following.push(tick(options.host.clock, { tickMs, signal, publish }));
  try {
    for (;;) yield await latest.take();
  } finally {
    stop.abort(new Error('nobody reads the watch any more'));
    await Promise.all(following);
  }
}

async function tick(
  clock: Clock,
  { tickMs, signal, publish }: { readonly tickMs: number; readonly signal: AbortSignal; readonly publish: () => void },
): Promise<void> {
  try {
    for (;;) {
      await clock.sleep(tickMs, signal);
      publish();
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

/** Waits until `look` finds what it wants in the current objects; the deadline's error says what was still missing. */
export async function waitForObjects<R>(
  options: WatchOptions & { readonly what: string; readonly deadlineMs: number },
  look: (items: readonly KubernetesObject[]) => Observation<R>,
): Promise<R> {
  const over = new AbortController();
  let missing: readonly Missing[] = [];
  const { what, deadlineMs, host } = options;
  using _ = host.clock.after(deadlineMs, () =>
    over.abort(workflowErrors.DEADLINE({ what, seconds: Math.round(deadlineMs / 1000), missing })),
  );
  const onTrouble = (error: FirstlightError): void => {
    missing = [waitingFor(error.message)];
    options.onTrouble?.(error);
  };
  const signal = AbortSignal.any([options.signal, over.signal]);
  for await (const items of watchObjects({ ...options, signal, onTrouble })) {
    const seen = look(items);
    if (seen.status === 'ready') return seen.value;
    ({ missing } = seen);
  }
  throw new Error('a watch ends only by throwing');
}

/** Lists and watches until the signal; every state that differs from the one before is published. */
async function follow(options: WatchOptions, publish: (items: readonly KubernetesObject[]) => void): Promise<never> {
  const { host, signal, pageSize, keep = (object) => object } = options;
  const paging = { keep, ...(pageSize === undefined ? {} : { pageSize }) };
  const objects = new Map<string, KubernetesObject>();
  let version: string | undefined;
  let failures = 0;
  for (;;) {
    try {
      if (version === undefined) {
        const list = await options.client.list(options.kind, options.selection, { signal, ...paging });
        objects.clear();
        for (const item of list.items) objects.set(keyOf(item), item);
        version = list.resourceVersion;
        publish([...objects.values()]);
      }
      const openedMs = host.clock.monotonicMs();
      for await (const { type, object } of events(options, version)) {
        version = object.metadata.resourceVersion ?? version;
        failures = 0;
        if (type === 'BOOKMARK') continue;
        if (type === 'DELETED') objects.delete(keyOf(object));
        else objects.set(keyOf(object), keep(object));
        publish([...objects.values()]);
      }
      // The server ends every watch after a while. One that ends at once must not be reopened in a tight loop.
      if (host.clock.monotonicMs() - openedMs < 500) await host.clock.sleep(500, signal);
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof FirstlightError)) throw error;
      failures += 1;
      const isOutdated = isError(error, kubernetesErrors.EXPIRED);
      if (isOutdated || failures >= failuresBeforeRelist) version = undefined;
      if (!isOutdated) options.onTrouble?.(error);
      // The first 410 only follows a long silence: list again at once.
      if (!isOutdated || failures > 1) await host.clock.sleep(pauseBefore(pauses, failures, host.random), signal);
    }
  }
}

interface WatchEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR';
  readonly object: KubernetesObject;
}

async function* events(
  { client, kind, selection = {}, signal, idleMs = idleMsDefault }: WatchOptions,
  resourceVersion: string,
): AsyncGenerator<WatchEvent> {
  // The server ends the watch a little before we would call it dead, and sends a bookmark just before it does: then we
  // resume from a fresh version, and silence truly means a dead connection.
  const timeoutSeconds = Math.max(1, Math.floor((idleMs * 0.8) / 1000));
  const chunks = await client.openWatch(kind, selection, { resourceVersion, timeoutSeconds, idleMs, signal });
  for await (const value of jsonLines(chunks)) {
    const event = value as WatchEvent;
    if (event.type === 'ERROR') {
      throw failureOfStatus(event.object, { what: `watch ${kind.kind}s`, server: client.server });
    }
    yield event;
  }
}

/** One JSON value per line, from bytes that arrive in any pieces. A last line without its end was cut off. */
export async function* jsonLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator {
  // A line of several megabytes comes in hundreds of pieces: they are joined once, outside of the heap of JavaScript.
  let pieces: Uint8Array[] = [];
  for await (const chunk of chunks) {
    let from = 0;
    for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, from)) {
      const line = Buffer.concat([...pieces, chunk.subarray(from, end)]).toString('utf8');
      pieces = [];
      from = end + 1;
      if (line.trim() !== '') yield JSON.parse(line);
    }
    if (from < chunk.length) pieces.push(chunk.subarray(from));
  }
}

const newline = 0x0a;

function keyOf({ metadata }: KubernetesObject): string {
  return `${metadata.namespace ?? ''}/${metadata.name}`;
}

/** Holds the newest value for one reader; older ones are dropped. */
class Latest<T> {
  #value: { readonly kept: T } | undefined;
  #failure: { readonly error: unknown } | undefined;
  #wake: (() => void) | undefined;

  put(value: T): void {
    this.#value = { kept: value };
    this.#wake?.();
  }

  fail(error: unknown): void {
    this.#failure = { error };
    this.#wake?.();
  }

  async take(): Promise<T> {
    for (;;) {
      if (this.#failure !== undefined) throw this.#failure.error;
      const value = this.#value;
      this.#value = undefined;
      if (value !== undefined) return value.kept;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }
}
