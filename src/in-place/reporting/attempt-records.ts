// The attempts of the API as a config server sees them: by watch, so that neither a report that is repeated nor a
// stranger's guess costs the API a request. What is written is compared with what was read, because the servers of all
// masters and the controller write to the same object.
import {
  type AttemptReport,
  attemptKind,
  type InPlaceAttempt,
  type InPlaceSystem,
  readAttempt,
} from '../../contract/in-place.ts';
import { type FirstlightError, isError } from '../../errors/firstlight-error.ts';
import type { Host } from '../../host/host.ts';
import type { KubernetesClient } from '../../kubernetes/client.ts';
import { kubernetesErrors } from '../../kubernetes/errors.ts';
import { type KubernetesObject, objectVersion } from '../../kubernetes/object.ts';
import { watchObjects } from '../../kubernetes/watch.ts';
import { Doorbell } from '../../workflow/doorbell.ts';
import { isEnd } from '../phases.ts';

export interface RecordedAttempt {
  readonly object: KubernetesObject;
  readonly attempt: InPlaceAttempt;
}

export interface AttemptRecordsOptions {
  readonly client: KubernetesClient;
  /** Called for every failure of the watch, which goes on by itself. */
  readonly onTrouble: (error: FirstlightError) => void;
  /** When it is aborted, nobody waits any longer. */
  readonly signal: AbortSignal;
}

/** Less than the ten seconds after which a reporter tries again. */
const callMs = 7_000;
const firstListMs = 3_000;
/** A watch that is this far behind is broken, and lists anew. */
const watchDelayMs = 30_000;

export class AttemptRecords implements AsyncDisposable {
  readonly #host: Host;
  readonly #options: AttemptRecordsOptions;
  readonly #end = new AbortController();
  readonly #following: Promise<void>;
  readonly #changes = new Doorbell();
  #watched: ReadonlyMap<string, KubernetesObject> | undefined;
  /** What this server has read or written since, until the watch has it too. */
  readonly #newer = new Map<string, { readonly object: KubernetesObject; readonly atMs: number }>();

  constructor(host: Host, options: AttemptRecordsOptions) {
    this.#host = host;
    this.#options = options;
    this.#following = this.#follow();
  }

  /** As far as it is known here. */
  async find(name: string): Promise<RecordedAttempt | undefined> {
    await this.#until(() => this.#watched, firstListMs);
    return recorded(this.#newest(name));
  }

  /** As the API has it now. */
  async read(name: string): Promise<RecordedAttempt | undefined> {
    const object = await this.#options.client.find(referenceTo(name), { deadlineMs: callMs });
    return object === undefined ? undefined : this.#keep(object);
  }

  /** Undefined when the object has changed since it was read. */
  async write({ object }: RecordedAttempt, report: AttemptReport): Promise<RecordedAttempt | undefined> {
    const { name, resourceVersion } = object.metadata;
    const patch = { metadata: { resourceVersion }, status: { report } };
    try {
      const options = { deadlineMs: callMs, subresource: 'status' } as const;
      return this.#keep(await this.#options.client.mergePatch(referenceTo(name), patch, options));
    } catch (error) {
      if (isError(error, kubernetesErrors.CONFLICT)) return undefined;
      throw error;
    }
  }

  /** The newest state after it fits, or after the time. */
  async wait(
    name: string,
    waitMs: number,
    fits: (found: RecordedAttempt | undefined) => boolean,
  ): Promise<RecordedAttempt | undefined> {
    await this.#until(() => (fits(recorded(this.#newest(name))) ? true : undefined), waitMs);
    return recorded(this.#newest(name));
  }

  /** Those that have not ended. */
  async running(system: InPlaceSystem): Promise<readonly InPlaceAttempt[]> {
    await this.#until(() => this.#watched, firstListMs);
    const attempts = this.#names().flatMap((name) => recorded(this.#newest(name))?.attempt ?? []);
    return attempts.filter(({ spec, status }) => spec.os === system && !isEnd(status.phase));
  }

  /** Whether a later attempt of the same node has taken its place. */
  isSuperseded({ object, attempt }: RecordedAttempt): boolean {
    const since = object.metadata.creationTimestamp ?? '';
    return this.#names().some((name) => {
      const other = recorded(this.#newest(name));
      return other?.attempt.spec.node === attempt.spec.node && (other.object.metadata.creationTimestamp ?? '') > since;
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#end.abort(new Error('the server stops'));
    await this.#following;
  }

  #names(): readonly string[] {
    return [...new Set([...(this.#watched?.keys() ?? []), ...this.#newer.keys()])];
  }

  #newest(name: string): KubernetesObject | undefined {
    const [own, watched] = [this.#newer.get(name)?.object, this.#watched?.get(name)];
    if (own === undefined || watched === undefined) return own ?? watched;
    return objectVersion(own) > objectVersion(watched) ? own : watched;
  }

  #keep(object: KubernetesObject): RecordedAttempt | undefined {
    this.#newer.set(object.metadata.name, { object, atMs: this.#host.clock.monotonicMs() });
    return recorded(object);
  }

  /** What the watch has too; and what it should have by now: that was deleted. */
  #forget(): void {
    const nowMs = this.#host.clock.monotonicMs();
    for (const [name, { object, atMs }] of this.#newer) {
      const watched = this.#watched?.get(name);
      const isThere = watched !== undefined && objectVersion(watched) >= objectVersion(object);
      if (isThere || nowMs - atMs > watchDelayMs) this.#newer.delete(name);
    }
  }

  async #until(look: () => unknown, waitMs: number): Promise<void> {
    const over = new AbortController();
    using _ = this.#host.clock.after(waitMs, () => over.abort(new Error('the time is over')));
    const signal = AbortSignal.any([over.signal, this.#end.signal, this.#options.signal]);
    for (;;) {
      const { rings } = this.#changes;
      if (look() !== undefined || signal.aborted) return;
      await this.#changes.rung(rings, signal);
    }
  }

  async #follow(): Promise<void> {
    const { client, onTrouble } = this.#options;
    const { signal } = this.#end;
    const watching = { client, host: this.#host, kind: attemptKind, keep: withoutHistory, signal, onTrouble };
    try {
      for await (const objects of watchObjects(watching)) {
        this.#watched = new Map(objects.map((object) => [object.metadata.name, object]));
        this.#forget();
        this.#changes.ring();
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }
}

function referenceTo(name: string) {
  return { ...attemptKind, name };
}

function recorded(object: KubernetesObject | undefined): RecordedAttempt | undefined {
  const attempt = object === undefined ? undefined : readAttempt(object);
  return object === undefined || attempt === undefined ? undefined : { object, attempt };
}

/** Of an attempt that has ended, what it takes to know its reporter: there may be many of them. */
function withoutHistory(object: KubernetesObject): KubernetesObject {
  const attempt = readAttempt(object);
  if (attempt === undefined || !isEnd(attempt.status.phase)) return object;
  const { name, resourceVersion, creationTimestamp } = object.metadata;
  const metadata = {
    name,
    ...(resourceVersion ? { resourceVersion } : {}),
    ...(creationTimestamp ? { creationTimestamp } : {}),
  };
  const report = { ...attempt.status.report, events: [], phases: [], preflight: [] };
  return { ...attemptKind, metadata, spec: attempt.spec, status: { ...attempt.status, history: [], report } };
}
