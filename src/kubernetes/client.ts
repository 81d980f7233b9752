// The client of the Kubernetes API: reads, lists, creates, applies, patches, replaces and deletes plain objects. Every
// call has a deadline and an abort signal, and fails with a row of the KUBERNETES table. Nothing is retried here.
import { isError } from '../errors/firstlight-error.ts';
import { failureOfAnswer } from './api-failure.ts';
import { type ApiHost, type ApiRequest, type Connection, type KubeconfigSource, openConnection } from './connection.ts';
import { kubernetesErrors } from './errors.ts';
import { type KubernetesObject, type ObjectKind, type ObjectReference, referenceOf, referenceText } from './object.ts';
import { type ApiResource, groupPath, type ObjectPath, readResources, resourcePath } from './resources.ts';

/** Owns the fields that we apply. */
export const fieldManager = 'firstlight';

export interface ApiCallOptions {
  readonly signal?: AbortSignal;
  /** Default 15 s. */
  readonly deadlineMs?: number;
}

export interface Selection {
  /** All namespaces when left out. */
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
}

export interface ListOptions extends ApiCallOptions {
  /** How many objects one answer holds. Default 500; fewer where strangers decide how large an object is. */
  readonly pageSize?: number;
  /** What of each object is kept; the rest of a page is forgotten before the next page is read. */
  readonly keep?: (object: KubernetesObject) => KubernetesObject;
  /** The server sends name, labels and annotations of each object, and none of its content. */
  readonly isMetadataOnly?: boolean;
}

export interface ObjectList<T> {
  readonly items: readonly T[];
  readonly resourceVersion: string;
}

export type Subresource = 'status' | 'approval' | 'scale';

export interface ServerSideOptions extends ApiCallOptions {
  readonly force?: boolean;
  readonly subresource?: Subresource;
  /** Who owns the fields from then on. Default `firstlight`. */
  readonly manager?: string;
}

export interface DeleteOptions extends ApiCallOptions {
  /** Delete only this very object, not one that took its name since. */
  readonly uid?: string;
  /** Delete only what is exactly as it was read. */
  readonly resourceVersion?: string;
}

export interface EvictedPod {
  readonly namespace: string;
  readonly name: string;
  /** Only this very pod, not one that took its name since. */
  readonly uid: string;
}

export interface KubernetesClient extends AsyncDisposable {
  readonly server: string;
  get<T extends KubernetesObject>(reference: ObjectReference, options?: ApiCallOptions): Promise<T>;
  /** Like `get`; undefined where there is no such object. */
  find<T extends KubernetesObject>(reference: ObjectReference, options?: ApiCallOptions): Promise<T | undefined>;
  list<T extends KubernetesObject>(
    kind: ObjectKind,
    selection?: Selection,
    options?: ListOptions,
  ): Promise<ObjectList<T>>;
  create<T extends KubernetesObject>(object: T, options?: ApiCallOptions): Promise<T>;
  /** Overwrites; with the resource version of what was read, only if the object has not changed since. */
  replace<T extends KubernetesObject>(
    object: T,
    options?: ApiCallOptions & { readonly subresource?: Subresource },
  ): Promise<T>;
  /** Server-side apply. `force` takes fields from other managers instead of failing with CONFLICT. */
  apply<T extends KubernetesObject>(object: T, options?: ServerSideOptions): Promise<T>;
  /** JSON merge patch (RFC 7386): null removes a field. */
  mergePatch<T extends KubernetesObject>(
    reference: ObjectReference,
    patch: object,
    options?: ApiCallOptions & { readonly subresource?: Subresource },
  ): Promise<T>;
  /** False when there was no such object. */
  delete(reference: ObjectReference, options?: DeleteOptions): Promise<boolean>;
  /** Asks a pod to go. TOO_MANY_REQUESTS where a disruption budget forbids it now; false when there is no such pod. */
  evict(pod: EvictedPod, options?: ApiCallOptions): Promise<boolean>;
  /** Any path, such as /readyz; the answer as it is, whatever its status. */
  getRaw(path: string, options?: ApiCallOptions): Promise<{ readonly status: number; readonly text: string }>;
  /** How the API serves a kind; throws NO_SUCH_KIND. */
  resource(kind: ObjectKind, options?: ApiCallOptions): Promise<ApiResource>;
  /** The bytes of a watch, for watch.ts. */
  openWatch(kind: ObjectKind, selection: Selection, options: WatchRequest): Promise<AsyncIterable<Uint8Array>>;
}

export interface WatchRequest {
  readonly resourceVersion: string;
  readonly timeoutSeconds: number;
  readonly idleMs: number;
  readonly signal: AbortSignal;
}

const deadlineMsDefault = 15_000;
const pageSizeDefault = 500;
const metadataOnly = 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io';

export async function connectKubernetes(host: ApiHost, kubeconfig: KubeconfigSource): Promise<KubernetesClient> {
  return new ConnectedClient(await openConnection(host, kubeconfig));
}

type Call = Omit<ApiRequest, 'deadlineMs' | 'signal' | 'path'> & { readonly path: ObjectPath };

class ConnectedClient implements KubernetesClient {
  readonly #connection: Connection;
  readonly #resources = new Map<string, ReadonlyMap<string, ApiResource>>();

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  get server(): string {
    return this.#connection.server;
  }

  async get<T extends KubernetesObject>(reference: ObjectReference, options: ApiCallOptions = {}): Promise<T> {
    const call = { what: `read ${referenceText(reference)}`, method: 'GET', path: placeOf(reference) } as const;
    return (await this.#call(reference, call, options)) as T;
  }

  async find<T extends KubernetesObject>(
    reference: ObjectReference,
    options: ApiCallOptions = {},
  ): Promise<T | undefined> {
    try {
      return await this.get<T>(reference, options);
    } catch (error) {
      if (isError(error, kubernetesErrors.NOT_FOUND)) return undefined;
      throw error;
    }
  }

  async list<T extends KubernetesObject>(
    kind: ObjectKind,
    selection: Selection = {},
    { pageSize = pageSizeDefault, keep, isMetadataOnly = false, ...options }: ListOptions = {},
  ): Promise<ObjectList<T>> {
    const { namespace, ...selectors } = selection;
    const accept = isMetadataOnly ? { accept: metadataOnly } : {};
    const items: T[] = [];
    let next: string | undefined;
    for (;;) {
      const query = { ...selectors, limit: String(pageSize), continue: next };
      const call = { what: `list ${kind.kind}s`, method: 'GET', path: { namespace }, query, ...accept } as const;
      const page = (await this.#call(kind, call, options)) as RawList<T>;
      // Items of a list come without the kind that the list already names.
      const whole = (page.items ?? []).map((item) => ({ ...item, apiVersion: kind.apiVersion, kind: kind.kind }));
      items.push(...(keep === undefined ? whole : (whole.map(keep) as T[])));
      next = page.metadata.continue || undefined;
      if (next === undefined) return { items, resourceVersion: page.metadata.resourceVersion };
    }
  }

  async create<T extends KubernetesObject>(object: T, options: ApiCallOptions = {}): Promise<T> {
    const reference = referenceOf(object);
    const { namespace } = placeOf(reference);
    const call = {
      what: `create ${referenceText(reference)}`,
      method: 'POST',
      path: { namespace },
      query: { fieldManager, fieldValidation: 'Strict' },
      body: object,
    } as const;
    return (await this.#call(object, call, options)) as T;
  }

  async replace<T extends KubernetesObject>(
    object: T,
    options: ApiCallOptions & { readonly subresource?: Subresource } = {},
  ): Promise<T> {
    const reference = referenceOf(object);
    const call = {
      what: `change ${referenceText(reference)}${partText(options.subresource)}`,
      method: 'PUT',
      path: { ...placeOf(reference), ...subresourceOf(options) },
      query: { fieldManager },
      body: object,
    } as const;
    return (await this.#call(object, call, options)) as T;
  }

  async apply<T extends KubernetesObject>(object: T, options: ServerSideOptions = {}): Promise<T> {
    const reference = referenceOf(object);
    const call = {
      what: `apply ${referenceText(reference)}${partText(options.subresource)}`,
      method: 'PATCH',
      path: { ...placeOf(reference), ...subresourceOf(options) },
      query: {
        fieldManager: options.manager ?? fieldManager,
        force: String(options.force ?? false),
        fieldValidation: 'Strict',
      },
      body: object,
      // JSON is YAML.
      contentType: 'application/apply-patch+yaml',
    } as const;
    return (await this.#call(object, call, options)) as T;
  }

  async mergePatch<T extends KubernetesObject>(
    reference: ObjectReference,
    patch: object,
    options: ApiCallOptions & { readonly subresource?: Subresource } = {},
  ): Promise<T> {
    const call = {
      what: `patch ${referenceText(reference)}${partText(options.subresource)}`,
      method: 'PATCH',
      path: { ...placeOf(reference), ...subresourceOf(options) },
      query: { fieldManager },
      body: patch,
      contentType: 'application/merge-patch+json',
    } as const;
    return (await this.#call(reference, call, options)) as T;
  }

  async delete(reference: ObjectReference, options: DeleteOptions = {}): Promise<boolean> {
    const { uid, resourceVersion } = options;
    const call = {
      what: `delete ${referenceText(reference)}`,
      method: 'DELETE',
      path: placeOf(reference),
      body: {
        apiVersion: 'v1',
        kind: 'DeleteOptions',
        propagationPolicy: 'Background',
        preconditions: { ...(uid ? { uid } : {}), ...(resourceVersion ? { resourceVersion } : {}) },
      },
    } as const;
    try {
      await this.#call(reference, call, options);
      return true;
    } catch (error) {
      if (isError(error, kubernetesErrors.NOT_FOUND)) return false;
      throw error;
    }
  }

  async evict({ namespace, name, uid }: EvictedPod, options: ApiCallOptions = {}): Promise<boolean> {
    const call = {
      what: `evict Pod ${namespace}/${name}`,
      method: 'POST',
      path: { namespace, name, subresource: 'eviction' },
      body: {
        apiVersion: 'policy/v1',
        kind: 'Eviction',
        metadata: { name, namespace },
        deleteOptions: { preconditions: { uid } },
      },
    } as const;
    try {
      await this.#call({ apiVersion: 'v1', kind: 'Pod' }, call, options);
      return true;
    } catch (error) {
      if (isError(error, kubernetesErrors.NOT_FOUND)) return false;
      throw error;
    }
  }

  async getRaw(
    path: string,
    options: ApiCallOptions = {},
  ): Promise<{ readonly status: number; readonly text: string }> {
    const { status, text } = await this.#connection.send({
      what: `read ${path}`,
      method: 'GET',
      path,
      deadlineMs: deadlineMsDefault,
      ...options,
    });
    return { status, text };
  }

  async resource(kind: ObjectKind, options: ApiCallOptions = {}): Promise<ApiResource> {
    return this.#resource(kind, `find out about ${kind.kind} of ${kind.apiVersion}`, options);
  }

  /** `what` names the caller's own request in error messages, because discovery is only a step towards it. */
  async #resource(kind: ObjectKind, what: string, options: ApiCallOptions): Promise<ApiResource> {
    const known = this.#resources.get(kind.apiVersion)?.get(kind.kind);
    if (known !== undefined) return known;
    const request = { what, method: 'GET', path: groupPath(kind), deadlineMs: deadlineMsDefault, ...options } as const;
    const answer = await this.#connection.send(request);
    if (answer.status !== 200 && answer.status !== 404) throw failureOfAnswer(answer, { what, server: this.server });
    const resources = answer.status === 404 ? undefined : readResources(JSON.parse(answer.text));
    if (resources !== undefined) this.#resources.set(kind.apiVersion, resources);
    const resource = resources?.get(kind.kind);
    if (resource !== undefined) return resource;
    throw kubernetesErrors.NO_SUCH_KIND({ apiVersion: kind.apiVersion, kind: kind.kind, server: this.server });
  }

  async openWatch(
    kind: ObjectKind,
    { namespace, ...selectors }: Selection,
    request: WatchRequest,
  ): Promise<AsyncIterable<Uint8Array>> {
    const { idleMs: deadlineMs, signal } = request;
    const what = `watch ${kind.kind}s`;
    const resource = await this.#resource(kind, what, { signal });
    const stream = await this.#connection.open({
      what,
      method: 'GET',
      path: resourcePath(kind, resource, { namespace }),
      query: {
        ...selectors,
        watch: 'true',
        allowWatchBookmarks: 'true',
        resourceVersion: request.resourceVersion,
        timeoutSeconds: String(request.timeoutSeconds),
      },
      deadlineMs,
      signal,
    });
    if (stream.status === 200) return stream.chunks;
    const chunks: Uint8Array[] = [];
    for await (const chunk of stream.chunks) chunks.push(chunk);
    const text = Buffer.concat(chunks).toString('utf8');
    throw failureOfAnswer({ ...stream, text }, { what, server: this.server });
  }

  async #call(kind: ObjectKind, call: Call, options: ApiCallOptions): Promise<unknown> {
    const { deadlineMs = deadlineMsDefault, signal } = options;
    const limits = { deadlineMs, ...(signal === undefined ? {} : { signal }) };
    const resource = await this.#resource(kind, call.what, limits);
    const path = resourcePath(kind, resource, call.path);
    const answer = await this.#connection.send({ ...call, ...limits, path });
    if (answer.status >= 200 && answer.status < 300) return JSON.parse(answer.text) as unknown;
    // A CRD that was deleted takes its kind away: ask again next time.
    if (answer.status === 404) this.#resources.delete(kind.apiVersion);
    throw failureOfAnswer(answer, { what: call.what, server: this.server });
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#connection[Symbol.dispose]();
    return Promise.resolve();
  }
}

interface RawList<T> {
  readonly metadata: { readonly resourceVersion: string; readonly continue?: string };
  /** Go writes an empty list as null. */
  readonly items: readonly T[] | null;
}

/** Like kubectl: an object that names no namespace, but needs one, is in `default`. */
function placeOf({ name, namespace = 'default' }: ObjectReference): {
  readonly name: string;
  readonly namespace: string;
} {
  return { name, namespace };
}

function subresourceOf({ subresource }: { readonly subresource?: Subresource }): Pick<ObjectPath, 'subresource'> {
  return subresource === undefined ? {} : { subresource };
}

function partText(subresource: Subresource | undefined): string {
  return subresource === undefined ? '' : ` (${subresource})`;
}
