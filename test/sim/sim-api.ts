// An API server in memory, behind the network of a fake host: objects with versions from one counter, patches that are
// refused when their object has changed, lists and watches. What happened is kept in a log, in its order.

import { hostErrors } from '../../src/host/errors.ts';
import type { FakeHost } from '../../src/host/fake/fake-host.ts';
import type { HttpAnswer, HttpRequest, HttpStream, Network } from '../../src/host/network.ts';
import { connectKubernetes, type KubernetesClient } from '../../src/kubernetes/client.ts';
import { kubeconfigText } from '../../src/kubernetes/kubeconfig.ts';
import type { KubernetesObject } from '../../src/kubernetes/object.ts';
import { Doorbell } from '../../src/workflow/doorbell.ts';

interface Resource {
  readonly name: string;
  readonly kind: string;
  readonly namespaced: boolean;
}

const groups: Readonly<Record<string, readonly Resource[]>> = {
  '/api/v1': [
    { name: 'nodes', kind: 'Node', namespaced: false },
    { name: 'pods', kind: 'Pod', namespaced: true },
    { name: 'secrets', kind: 'Secret', namespaced: true },
    { name: 'configmaps', kind: 'ConfigMap', namespaced: true },
    { name: 'events', kind: 'Event', namespaced: true },
    { name: 'namespaces', kind: 'Namespace', namespaced: false },
    { name: 'services', kind: 'Service', namespaced: true },
    { name: 'serviceaccounts', kind: 'ServiceAccount', namespaced: true },
  ],
  '/apis/apps/v1': [
    { name: 'deployments', kind: 'Deployment', namespaced: true },
    { name: 'daemonsets', kind: 'DaemonSet', namespaced: true },
  ],
  '/apis/batch/v1': [{ name: 'jobs', kind: 'Job', namespaced: true }],
  '/apis/rbac.authorization.k8s.io/v1': [
    { name: 'clusterroles', kind: 'ClusterRole', namespaced: false },
    { name: 'clusterrolebindings', kind: 'ClusterRoleBinding', namespaced: false },
  ],
  '/apis/apiextensions.k8s.io/v1': [
    { name: 'customresourcedefinitions', kind: 'CustomResourceDefinition', namespaced: false },
  ],
  '/apis/config.openshift.io/v1': [
    { name: 'clusterversions', kind: 'ClusterVersion', namespaced: false },
    { name: 'clusteroperators', kind: 'ClusterOperator', namespaced: false },
    { name: 'infrastructures', kind: 'Infrastructure', namespaced: false },
    { name: 'networks', kind: 'Network', namespaced: false },
    { name: 'ingresses', kind: 'Ingress', namespaced: false },
  ],
  '/apis/ipb.dev/v1': [
    { name: 'inplaceattempts', kind: 'InPlaceAttempt', namespaced: false },
    { name: 'inplaceruns', kind: 'InPlaceRun', namespaced: false },
  ],
  '/apis/coordination.k8s.io/v1': [{ name: 'leases', kind: 'Lease', namespaced: true }],
  '/apis/policy/v1': [{ name: 'poddisruptionbudgets', kind: 'PodDisruptionBudget', namespaced: true }],
};

export interface Change {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly resource: string;
  readonly object: KubernetesObject;
}

/** Decides about one request of a client: undefined lets it pass. */
export type RequestFault = (request: { readonly isWrite: boolean }) => 'lose-request' | 'lose-answer' | undefined;

const delayMs = 5;

/** What a manager has applied of each object, by which server-side apply knows what it gives up. */
type Applied = Map<string, unknown>;

export class SimApi {
  readonly log: Change[] = [];
  /** Called after every change, before anybody else sees it. */
  onChange: (change: Change) => void = () => {};
  /** How long a watch shows nothing of a change. */
  watchLagMs: () => number = () => delayMs;
  /** Why it refuses an object that is applied. */
  refused: (object: KubernetesObject) => string | undefined = () => undefined;
  /** A kubelet ends the pods that are evicted. */
  endsEvictedPods = true;
  readonly #host: FakeHost;
  readonly #objects = new Map<string, KubernetesObject>();
  readonly #changed = new Doorbell();
  readonly #applied: Applied = new Map();
  #version = 0;

  constructor(host: FakeHost) {
    this.#host = host;
  }

  async client(fault: RequestFault = () => undefined): Promise<KubernetesClient> {
    const text = kubeconfigText({
      cluster: 'c',
      server: 'https://api-int.demo.firstlight.test:6443',
      caPem: 'ca',
      user: 'u',
      credential: { kind: 'token', token: 't' },
    });
    return connectKubernetes({ ...this.#host, network: this.#network(fault) }, { text });
  }

  find(resource: string, name: string, namespace = ''): KubernetesObject | undefined {
    return this.#objects.get(`${resource} ${namespace}/${name}`);
  }

  all(resource: string): readonly KubernetesObject[] {
    return [...this.#objects].filter(([key]) => key.startsWith(`${resource} `)).map(([, object]) => object);
  }

  /** As a client without faults would write it. */
  put(resource: string, object: KubernetesObject): KubernetesObject {
    const key = keyOf(resource, object);
    const before = this.#objects.get(key);
    const uid = before?.metadata.uid ?? `uid-${this.#version + 1}`;
    const creationTimestamp = before?.metadata.creationTimestamp ?? this.#host.clock.now().toISOString();
    this.#version += 1;
    const isSameSpec = JSON.stringify(before?.['spec']) === JSON.stringify(object['spec']);
    const generation = Number(before?.metadata['generation'] ?? 0) + (isSameSpec && before !== undefined ? 0 : 1);
    const resourceVersion = String(this.#version);
    const metadata = { ...object.metadata, uid, creationTimestamp, generation, resourceVersion };
    const stored = { ...object, metadata };
    this.#objects.set(key, stored);
    this.#record({ type: before === undefined ? 'ADDED' : 'MODIFIED', resource, object: stored });
    return stored;
  }

  patch(resource: string, name: string, patch: object, namespace = ''): KubernetesObject | undefined {
    const present = this.find(resource, name, namespace);
    return present === undefined ? undefined : this.put(resource, merged(present, patch) as KubernetesObject);
  }

  delete(resource: string, name: string, namespace = ''): boolean {
    const key = `${resource} ${namespace}/${name}`;
    const present = this.#objects.get(key);
    if (present === undefined) return false;
    this.#objects.delete(key);
    this.#version += 1;
    const metadata = { ...present.metadata, resourceVersion: String(this.#version) };
    this.#record({ type: 'DELETED', resource, object: { ...present, metadata } });
    return true;
  }

  #record(change: Change): void {
    this.log.push(change);
    this.onChange(change);
    this.#changed.ring();
  }

  #network(fault: RequestFault): Network {
    const lost = (): Error =>
      hostErrors.NETWORK({ target: 'the API', failure: 'reset', reason: 'the connection broke' });
    const request = async (asked: HttpRequest): Promise<HttpAnswer> => {
      await this.#host.clock.sleep(delayMs, asked.signal);
      const fails = fault({ isWrite: (asked.method ?? 'GET') !== 'GET' });
      if (fails === 'lose-request') throw lost();
      const { status, body } = this.#answer(asked);
      if (fails === 'lose-answer') throw lost();
      return { status, headers: {}, body: Buffer.from(JSON.stringify(body)) };
    };
    const open = async (asked: HttpRequest): Promise<HttpStream> => {
      await this.#host.clock.sleep(delayMs, asked.signal);
      return { status: 200, headers: {}, body: this.#watch(asked) };
    };
    const kept = { request, open, [Symbol.dispose]: () => {} };
    return { ...this.#host.network, ...kept, keepConnections: () => kept };
  }

  async *#watch({ url, signal }: HttpRequest): AsyncGenerator<Uint8Array> {
    const { pathname, searchParams } = new URL(url);
    const place = placeOf(pathname);
    const over = new AbortController();
    const either = AbortSignal.any(signal === undefined ? [over.signal] : [over.signal, signal]);
    const seconds = Number(searchParams.get('timeoutSeconds') ?? '20');
    using _ = this.#host.clock.after(seconds * 1_000, () => over.abort(new Error('the watch ends')));
    const selector = searchParams.get('fieldSelector');
    let next = this.log.findIndex(({ object }) => versionOf(object) > Number(searchParams.get('resourceVersion')));
    if (next < 0) next = this.log.length;
    while (!either.aborted) {
      const { rings } = this.#changed;
      for (; next < this.log.length; next += 1) {
        const change = this.log[next];
        if (
          change === undefined ||
          change.resource !== place.resource ||
          !isSelected(change.object, place.namespace, selector)
        )
          continue;
        const { type, object } = change;
        yield Buffer.from(`${JSON.stringify({ type, object })}\n`);
      }
      await this.#changed.rung(rings, either);
      await this.#host.clock.sleep(this.watchLagMs());
    }
    signal?.throwIfAborted();
  }

  #answer(asked: HttpRequest): { readonly status: number; readonly body: unknown } {
    const { url, method = 'GET', body } = asked;
    const { pathname, searchParams } = new URL(url);
    const resources = groups[pathname];
    if (resources !== undefined) return { status: 200, body: { resources } };
    const { resource, namespace, name, subresource } = placeOf(pathname);
    const given = body === undefined ? undefined : (JSON.parse(String(body)) as KubernetesObject);
    if (subresource === 'eviction') return this.#evict(name, namespace);
    if (name === '' && method === 'GET') {
      const selector = searchParams.get('fieldSelector');
      const items = this.all(resource).filter((object) => isSelected(object, namespace, selector));
      return { status: 200, body: { metadata: { resourceVersion: String(this.#version) }, items } };
    }
    if (method === 'POST' && given !== undefined) {
      const { status: _, ...created } = given;
      const isThere = this.#objects.has(keyOf(resource, given));
      return isThere ? refusal(409, 'AlreadyExists') : { status: 201, body: this.put(resource, created) };
    }
    const present = this.find(resource, name, namespace);
    if (given !== undefined && asked.headers?.['content-type'] === 'application/apply-patch+yaml') {
      return this.#apply(resource, given, present);
    }
    if (present === undefined) return refusal(404, 'NotFound');
    if (method === 'DELETE') return { status: 200, body: { deleted: this.delete(resource, name, namespace) } };
    if (method === 'GET' || given === undefined) return { status: 200, body: present };
    const wanted = given.metadata?.resourceVersion;
    if (wanted !== undefined && wanted !== present.metadata.resourceVersion) return refusal(409, 'Conflict');
    const { metadata, status, ...rest } = given;
    const patch = subresource === 'status' ? { status } : { ...rest, metadata };
    const after = method === 'PUT' ? given : (merged(present, patch) as KubernetesObject);
    // The API writes nothing when a patch changes nothing.
    return { status: 200, body: isSame(present, after) ? present : this.put(resource, after) };
  }

  /** Server-side apply of one manager: what it no longer says goes, what others have said stays. */
  #apply(
    resource: string,
    given: KubernetesObject,
    present: KubernetesObject | undefined,
  ): { readonly status: number; readonly body: unknown } {
    const reason = this.refused(given);
    if (reason !== undefined) return { status: 422, body: { kind: 'Status', reason: 'Invalid', message: reason } };
    const namespace = given.metadata.namespace ?? '';
    if (namespace !== '' && this.find('namespaces', namespace) === undefined) {
      return {
        status: 404,
        body: { kind: 'Status', reason: 'NotFound', message: `namespaces "${namespace}" not found` },
      };
    }
    const key = keyOf(resource, given);
    const kept = withoutGivenUp(present ?? {}, this.#applied.get(key), given);
    this.#applied.set(key, given);
    const after = appliedOver(kept, given) as KubernetesObject;
    if (present !== undefined && isSame(present, after)) return { status: 200, body: present };
    return { status: present === undefined ? 201 : 200, body: this.put(resource, after) };
  }

  #evict(name: string, namespace: string): { readonly status: number; readonly body: unknown } {
    const deletionTimestamp = this.#host.clock.now().toISOString();
    this.patch('pods', name, { metadata: { deletionTimestamp } }, namespace);
    if (this.endsEvictedPods) this.#host.clock.after(2_000, () => this.delete('pods', name, namespace));
    return { status: 201, body: {} };
  }
}

function placeOf(pathname: string) {
  const group = Object.keys(groups).find((path) => pathname.startsWith(`${path}/`)) ?? '';
  const parts = pathname.slice(group.length + 1).split('/');
  const namespace = parts[0] === 'namespaces' && parts.length > 2 ? (parts[1] ?? '') : '';
  const [resource = '', name = '', subresource = ''] = namespace === '' ? parts : parts.slice(2);
  return { resource, namespace, name, subresource };
}

function keyOf(resource: string, { metadata }: KubernetesObject): string {
  return `${resource} ${metadata.namespace ?? ''}/${metadata.name}`;
}

function isSelected({ metadata, spec }: KubernetesObject, namespace: string, selector: string | null): boolean {
  if (namespace !== '' && metadata.namespace !== namespace) return false;
  if (selector === null) return true;
  const { nodeName = '' } = (spec ?? {}) as { readonly nodeName?: string };
  return selector === `spec.nodeName=${nodeName}`;
}

function versionOf({ metadata }: KubernetesObject): number {
  return Number(metadata.resourceVersion ?? '0');
}

function isSame(one: KubernetesObject, other: KubernetesObject): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

function refusal(status: number, reason: string): { readonly status: number; readonly body: object } {
  return { status, body: { kind: 'Status', reason, message: reason } };
}

type Fields = Readonly<Record<string, unknown>>;

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Lists whose items have names are merged by them, as those of containers and variables are; others are replaced. */
function isNamedList(value: unknown): value is readonly Fields[] {
  return Array.isArray(value) && value.length > 0 && value.every((item) => isFields(item) && 'name' in item);
}

function withoutGivenUp(present: unknown, last: unknown, given: unknown): unknown {
  if (isNamedList(present) && isNamedList(last) && isNamedList(given)) {
    const named = (list: readonly Fields[], name: unknown): Fields | undefined =>
      list.find((item) => item['name'] === name);
    return present.flatMap((item) => {
      const before = named(last, item['name']);
      const now = named(given, item['name']);
      if (before !== undefined && now === undefined) return [];
      return [before === undefined ? item : withoutGivenUp(item, before, now)];
    });
  }
  if (!isFields(present) || !isFields(last) || !isFields(given)) return present;
  return Object.fromEntries(
    Object.entries(present).flatMap(([key, value]) => {
      if (!(key in last)) return [[key, value]];
      return key in given ? [[key, withoutGivenUp(value, last[key], given[key])]] : [];
    }),
  );
}

function appliedOver(present: unknown, given: unknown): unknown {
  if (isNamedList(present) && isNamedList(given)) {
    const names = given.map((item) => item['name']);
    const own = given.map((item) => {
      const before = present.find((each) => each['name'] === item['name']);
      return before === undefined ? item : appliedOver(before, item);
    });
    return [...own, ...present.filter((item) => !names.includes(item['name']))];
  }
  if (!isFields(present) || !isFields(given)) return given;
  const own = Object.entries(given).map(([key, value]) => [key, appliedOver(present[key], value)] as const);
  return { ...present, ...Object.fromEntries(own) };
}

/** RFC 7386. */
export function merged(target: unknown, patch: unknown): unknown {
  if (typeof patch !== 'object' || patch === null || Array.isArray(patch)) return patch;
  const result: Record<string, unknown> = typeof target === 'object' && target !== null ? { ...target } : {};
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete result[name];
    else result[name] = merged(result[name], value);
  }
  return result;
}
