// Puts a set of manifests into the API: Namespaces, then CustomResourceDefinitions until they are established, then the
// rest, in the order given. Create-only: an object that exists is left alone, unless `force` applies it as ours. Every
// pass looks at the API first, so a run after a crash equals a first run; a bad manifest is named and blocks no other.
import { isError } from '../errors/firstlight-error.ts';
import type { Host } from '../host/host.ts';
import { aFewAtATime } from '../workflow/a-few-at-a-time.ts';
import { pauseBefore } from '../workflow/retry.ts';
import { isTransient } from './api-failure.ts';
import type { ApiCallOptions, KubernetesClient } from './client.ts';
import { conditionOf, hasCondition } from './conditions.ts';
import { kubernetesErrors } from './errors.ts';
import { type KubernetesObject, type ObjectReference, referenceOf, referenceText } from './object.ts';

export interface Manifest {
  /** Where it came from, for people: a file name, with the number of the document where a file has several. */
  readonly source: string;
  /** As parsed; checked here, because files are written by people. */
  readonly value: unknown;
}

export type ApplyState =
  /** Made now. */
  | 'created'
  /** Was there; left as it is (or, with `force`, already as wanted). */
  | 'present'
  /** Fields changed by a forced apply. */
  | 'changed'
  /** Not possible yet: its kind or namespace, or the API, is not there yet. */
  | 'waiting'
  /** Refused for good. */
  | 'refused';

export interface ApplyEvent extends AppliedObject {
  /** `debug` for what is expected on the way, such as a kind that is not established yet. */
  readonly level: 'debug' | 'info' | 'warn';
}

export interface AppliedObject {
  /** As in the manifest. */
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

export interface ApplyOptions {
  readonly client: KubernetesClient;
  readonly host: Pick<Host, 'clock' | 'random'>;
  readonly manifests: readonly Manifest[];
  /** Server-side apply as `firstlight`, taking fields from others, also for what exists. */
  readonly force?: boolean;
  /** Who owns the fields of an object that is made here, so that he can take them away later. Default: nobody. */
  readonly managerOf?: (object: KubernetesObject) => string | undefined;
  readonly deadlineMs: number;
  /**
   * How long objects may wait for a kind or a namespace that no manifest of the set brings, when all the others are
   * settled. Default: until the deadline.
   */
  readonly strangersMs?: number;
  readonly signal?: AbortSignal;
  /** Called after each look that has left something to wait for. */
  readonly onWaiting?: (objects: readonly AppliedObject[]) => void;
  readonly onEvent?: (event: ApplyEvent) => void;
}

/** A manifest that has passed the check: what is in `value` is an object. */
interface Item {
  readonly manifest: Manifest;
  readonly object: KubernetesObject;
}

interface Outcome {
  readonly state: ApplyState;
  readonly reason?: string;
  /** Nothing else can work now either: the pass ends. */
  readonly isApiAway?: true;
  /** The API does not know its kind or its namespace. */
  readonly isStranger?: true;
}

/** Requests under way at a time: the first object of a new kind keeps the API busy for seconds. */
const concurrency = 8;
const callMsMin = 1_000;
const callMsMax = 15_000;
const passPauses = { attempts: 0, firstPauseMs: 50, maxPauseMs: 500 };

/** Returns when everything is there or refused for good, or when the deadline has passed; the report says which. */
export async function applyManifests(options: ApplyOptions): Promise<ApplyReport> {
  const { clock, random } = options.host;
  const endMs = clock.monotonicMs() + options.deadlineMs;
  const { items, unusable } = checkManifests(options.manifests);
  const phases = inPhases(items);
  const run = new Run(options, unusable);
  const left = (): number => endMs - clock.monotonicMs();
  let strangersSinceMs: number | undefined;
  for (let pass = 1; ; pass += 1) {
    options.signal?.throwIfAborted();
    const isSettled = await run.pass(phases, left);
    if (isSettled || left() <= 0) return run.report();
    options.onWaiting?.(run.waiting());
    strangersSinceMs = run.hasOnlyStrangers(items) ? (strangersSinceMs ?? clock.monotonicMs()) : undefined;
    const waitedMs = strangersSinceMs === undefined ? 0 : clock.monotonicMs() - strangersSinceMs;
    if (options.strangersMs !== undefined && waitedMs >= options.strangersMs) return run.report();
    await clock.sleep(Math.min(left(), pauseBefore(passPauses, pass, random)), options.signal);
  }
}

/** Namespaces → definitions → the rest; inside each, as given. */
function inPhases(items: readonly Item[]): readonly (readonly Item[])[] {
  const rank = ({ object }: Item): number =>
    object.kind === 'Namespace' && object.apiVersion === 'v1' ? 0 : isCrd(object) ? 1 : 2;
  return [0, 1, 2].map((wanted) => items.filter((item) => rank(item) === wanted));
}

class Run {
  readonly #options: ApplyOptions;
  readonly #outcomes = new Map<Manifest, AppliedObject>();
  readonly #strangers = new Set<Manifest>();
  /** Definitions are created in one pass and established in a later one. */
  readonly #created = new Set<Manifest>();

  constructor(options: ApplyOptions, unusable: ReadonlyMap<Manifest, string>) {
    this.#options = options;
    for (const [manifest, reason] of unusable) this.#record(manifest, undefined, { state: 'refused', reason });
  }

  /** One look at everything that is not settled; true when nothing is left to wait for. */
  async pass(phases: readonly (readonly Item[])[], leftMs: () => number): Promise<boolean> {
    const items = phases.flat();
    for (const phase of phases) {
      const unsettled = phase.filter(({ manifest }) => !this.#isSettled(manifest));
      let isOver = false;
      await aFewAtATime(unsettled, concurrency, async (item) => {
        this.#options.signal?.throwIfAborted();
        if (isOver || leftMs() <= 0) return;
        const outcome = this.#missingDefinition(item, items) ?? (await this.#applyOne(item, leftMs()));
        this.#record(item.manifest, referenceOf(item.object), outcome);
        if (outcome.isStranger === true && !isBroughtBy(items, item.object)) this.#strangers.add(item.manifest);
        else this.#strangers.delete(item.manifest);
        isOver ||= outcome.isApiAway === true;
      });
      if (isOver) return false;
    }
    return items.every(({ manifest }) => this.#isSettled(manifest));
  }

  #missingDefinition({ object }: Item, items: readonly Item[]): Outcome | undefined {
    const definition = items.find((other) => isCrd(other.object) && defines(other.object, object));
    if (definition === undefined || this.#isSettled(definition.manifest)) return undefined;
    return { state: 'waiting', reason: `${definition.object.metadata.name} is not established yet` };
  }

  waiting(): readonly AppliedObject[] {
    return this.report().objects.filter(({ state }) => state === 'waiting');
  }

  /** Whether what is not settled waits for nothing but a kind or a namespace that no manifest brings. */
  hasOnlyStrangers(items: readonly Item[]): boolean {
    return items.every(({ manifest }) => this.#isSettled(manifest) || this.#strangers.has(manifest));
  }

  report(): ApplyReport {
    const objects = this.#options.manifests.map(
      (manifest): AppliedObject =>
        this.#outcomes.get(manifest) ?? {
          source: manifest.source,
          object: referenceOf(manifest.value as KubernetesObject),
          state: 'waiting',
          reason: 'its turn has not come',
        },
    );
    const missing = objects
      .filter(({ state }) => state === 'waiting' || state === 'refused')
      .map(({ source, object, reason }) => {
        const name = object === undefined ? source : `${referenceText(object)} (${source})`;
        return `${name}: ${reason ?? 'unknown'}`;
      });
    return { isComplete: missing.length === 0, objects, missing };
  }

  #isSettled(manifest: Manifest): boolean {
    const state = this.#outcomes.get(manifest)?.state;
    return state !== undefined && state !== 'waiting';
  }

  async #applyOne({ manifest, object }: Item, leftMs: number): Promise<Outcome> {
    const { client, force = false, managerOf, signal } = this.#options;
    // Never too short for an answer, even at the end: the report should name the true reason.
    const deadlineMs = Math.min(Math.max(leftMs, callMsMin), callMsMax);
    const call = { deadlineMs, ...(signal === undefined ? {} : { signal }) };
    try {
      const manager = managerOf?.(object);
      const outcome = force
        ? await forceOne(client, object, call)
        : await createOne(client, object, { ...call, ...(manager === undefined ? {} : { manager }) });
      if (outcome.state === 'created') this.#created.add(manifest);
      const why = isCrd(object) ? establishedOrWhy(await client.get(referenceOf(object), call)) : true;
      if (why !== true) return { state: 'waiting', reason: why };
      return this.#created.has(manifest) ? { state: 'created' } : outcome;
    } catch (error) {
      signal?.throwIfAborted();
      return judge(error);
    }
  }

  /** Reports a transition once, however many passes see it. */
  #record(manifest: Manifest, object: ObjectReference | undefined, outcome: Outcome): void {
    const before = this.#outcomes.get(manifest);
    const { state, reason } = outcome;
    const applied = { source: manifest.source, object, state, ...(reason === undefined ? {} : { reason }) };
    this.#outcomes.set(manifest, applied);
    if (before?.state === applied.state && before.reason === applied.reason) return;
    this.#options.onEvent?.({ ...applied, level: levels[applied.state] });
  }
}

const levels = { created: 'info', changed: 'info', present: 'debug', waiting: 'debug', refused: 'warn' } as const;

async function createOne(
  client: KubernetesClient,
  object: KubernetesObject,
  { manager, ...call }: ApiCallOptions & { readonly manager?: string },
): Promise<Outcome> {
  const present = await client.find(referenceOf(object), call);
  if (present !== undefined) {
    await fillStatus(client, object, { present, call });
    return { state: 'present' };
  }
  try {
    const main = await mainPart(client, object, call);
    const created =
      manager === undefined ? await client.create(main, call) : await client.apply(main, { ...call, manager });
    await fillStatus(client, object, { present: created, call });
    return { state: 'created' };
  } catch (error) {
    // Another client created it first, which is as good.
    if (isError(error, kubernetesErrors.ALREADY_EXISTS)) return { state: 'present' };
    throw error;
  }
}

async function forceOne(client: KubernetesClient, object: KubernetesObject, call: ApiCallOptions): Promise<Outcome> {
  const before = await client.find(referenceOf(object), call);
  const after = await client.apply(await mainPart(client, object, call), { ...call, force: true });
  await fillStatus(client, object, { present: after, call });
  if (before === undefined) return { state: 'created' };
  const isSame = before.metadata.resourceVersion === after.metadata.resourceVersion;
  return { state: isSame ? 'present' : 'changed' };
}

/** Creating drops the status of kinds that have a path for it; it is filled once, while the live object has none. */
async function fillStatus(
  client: KubernetesClient,
  object: KubernetesObject,
  { present, call }: { readonly present: KubernetesObject; readonly call: ApiCallOptions },
): Promise<void> {
  const wanted = object['status'];
  if (!isFilled(wanted) || isFilled(present['status']) || isCrd(object)) return;
  if (!(await client.resource(object, call)).hasStatus) return;
  await client.mergePatch(referenceOf(object), { status: wanted }, { ...call, subresource: 'status' });
}

function isFilled(status: unknown): boolean {
  return typeof status === 'object' && status !== null && Object.keys(status).length > 0;
}

/** What is written through the object's own path: all but a status that has its own. */
async function mainPart(
  client: KubernetesClient,
  object: KubernetesObject,
  call: ApiCallOptions,
): Promise<KubernetesObject> {
  if (object['status'] === undefined || !(await client.resource(object, call)).hasStatus) return object;
  const { status: _, ...rest } = object;
  return rest;
}

/** What passes by itself is waited for; what an administrator must correct is not. */
function judge(error: unknown): Outcome {
  const reason = error instanceof Error ? error.message : String(error);
  if (isError(error, kubernetesErrors.UNREACHABLE)) return { state: 'waiting', reason, isApiAway: true };
  if (isError(error, kubernetesErrors.NO_SUCH_KIND) || isError(error, kubernetesErrors.NOT_FOUND)) {
    return { state: 'waiting', reason, isStranger: true };
  }
  const passes =
    isTransient(error) ||
    isError(error, kubernetesErrors.CONFLICT) ||
    // Roles of a starting API server, and namespaces on their way out, refuse for a moment what they allow later.
    isError(error, kubernetesErrors.FORBIDDEN);
  if (passes) return { state: 'waiting', reason };
  if (isError(error, kubernetesErrors.INVALID)) return { state: 'refused', reason };
  throw error;
}

function checkManifests(manifests: readonly Manifest[]): {
  readonly items: readonly Item[];
  readonly unusable: ReadonlyMap<Manifest, string>;
} {
  const items: Item[] = [];
  const unusable = new Map<Manifest, string>();
  for (const manifest of manifests) {
    const reason = reasonUnusable(manifest.value);
    if (reason === undefined) items.push({ manifest, object: manifest.value as KubernetesObject });
    else unusable.set(manifest, reason);
  }
  return { items, unusable };
}

/** Why a value that somebody wrote cannot be sent to the API; undefined where it can. */
export function reasonUnusable(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return 'it is not an object';
  const { apiVersion, kind, metadata } = value as Record<string, unknown>;
  if (typeof apiVersion !== 'string' || !/^[^/\s]+(\/[^/\s]+)?$/.test(apiVersion)) return 'it has no apiVersion';
  if (typeof kind !== 'string' || kind === '') return 'it has no kind';
  const { name } = (metadata ?? {}) as { name?: unknown };
  if (typeof name !== 'string' || name === '') return 'it has no metadata.name';
  return undefined;
}

const crdKind = { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition' } as const;

export function isCrd({ apiVersion, kind }: KubernetesObject): boolean {
  return apiVersion === crdKind.apiVersion && kind === crdKind.kind;
}

/** A kind can be used once the API says that its definition is established. True, or what is missing. */
export function establishedOrWhy(crd: KubernetesObject): true | string {
  if (hasCondition(crd, 'Established')) return true;
  const accepted = conditionOf(crd, 'NamesAccepted');
  if (accepted?.status === 'False') return `its names are taken: ${accepted.message || 'no message'}`;
  return 'the API has not established it yet';
}

/** Whether a manifest of the set defines the kind of `object`, or is the namespace that it is in. */
function isBroughtBy(items: readonly Item[], object: KubernetesObject): boolean {
  return items.some(
    (other) =>
      (isCrd(other.object) && defines(other.object, object)) ||
      (other.object.kind === 'Namespace' && other.object.metadata.name === object.metadata.namespace),
  );
}

/** Whether `crd` defines the kind of `object`. */
function defines(crd: KubernetesObject, object: KubernetesObject): boolean {
  const { group, names } = (crd['spec'] ?? {}) as { group?: unknown; names?: { kind?: unknown } };
  return names?.kind === object.kind && group === object.apiVersion.split('/')[0];
}
