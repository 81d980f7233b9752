// An API server in memory for tests that put objects into it: it knows the kinds that it is given and those that
// definitions bring, and keeps what is written. It has no rules of its own and no watches.
import { dirname } from 'node:path';
import { hostErrors } from '../src/host/errors.ts';
import type { HttpAnswer, HttpRequest, Network } from '../src/host/network.ts';
import { groupPath } from '../src/kubernetes/resources.ts';
import { merged } from './sim/sim-api.ts';

interface AnyObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly [field: string]: unknown;
}

interface Kind {
  readonly name: string;
  readonly kind: string;
  readonly namespaced: boolean;
}

export class ApiOfObjects {
  /** Path → object. */
  readonly objects = new Map<string, AnyObject>();
  /** What others add to an object as soon as it is there. */
  onCreate: (object: AnyObject) => object = () => ({});
  /** Names of objects that it refuses, with the reason. */
  readonly refused = new Map<string, string>();
  /** Servers that answer nothing, such as `api-int.demo.firstlight.test:6443`. */
  readonly silent = new Set<string>();
  readonly #kinds = new Map<string, Map<string, Kind>>();

  /** `samples`: an object of each kind that the API knows from its start. */
  constructor(samples: readonly unknown[]) {
    for (const sample of samples) {
      const { apiVersion, kind, metadata } = sample as AnyObject;
      this.#know(apiVersion, { name: pluralOf(kind), kind, namespaced: metadata.namespace !== undefined });
    }
  }

  /** Another API that has the same now. */
  copy(): ApiOfObjects {
    const copy = new ApiOfObjects([]);
    for (const [path, object] of this.objects) copy.objects.set(path, structuredClone(object));
    for (const [path, kinds] of this.#kinds) copy.#kinds.set(path, new Map(kinds));
    return copy;
  }

  /** An object without a namespace. */
  put(object: AnyObject): void {
    const { apiVersion, kind, metadata } = object;
    const name = pluralOf(kind);
    this.#know(apiVersion, { name, kind, namespaced: false });
    this.objects.set(`${groupPath({ apiVersion })}/${name}/${metadata.name}`, object);
  }

  find(kind: string, name: string): AnyObject | undefined {
    return [...this.objects.values()].find((object) => object.kind === kind && object.metadata.name === name);
  }

  get network(): Partial<Network> {
    const request = async (asked: HttpRequest): Promise<HttpAnswer> => {
      const { host } = new URL(asked.url);
      if (this.silent.has(host)) {
        throw hostErrors.NETWORK({ target: host, failure: 'refused', reason: 'connection refused' });
      }
      const { status, body } = this.#answer(asked);
      return { status, headers: {}, body: Buffer.from(JSON.stringify(body)) };
    };
    const open = (): never => {
      throw new Error('it has no watches');
    };
    return { request, keepConnections: () => ({ request, open, [Symbol.dispose]: () => undefined }) };
  }

  #know(apiVersion: string, kind: Kind): void {
    const path = groupPath({ apiVersion });
    if (this.#kinds.get(path)?.get(kind.kind)?.namespaced === true) return;
    this.#kinds.set(path, (this.#kinds.get(path) ?? new Map<string, Kind>()).set(kind.kind, kind));
  }

  #answer({ url, method = 'GET', body }: HttpRequest): { readonly status: number; readonly body: unknown } {
    const { pathname, searchParams } = new URL(url);
    if (pathname === '/readyz') return { status: 200, body: 'ok' };
    const kinds = this.#kinds.get(pathname);
    if (kinds !== undefined) {
      const resources = [...kinds.values()].flatMap((kind) => [kind, { ...kind, name: `${kind.name}/status` }]);
      return { status: 200, body: { resources } };
    }
    if (method === 'POST') return this.#create(pathname, JSON.parse(String(body)) as AnyObject);
    const path = pathname.replace(/\/status$/, '');
    const present = this.objects.get(path);
    if (present === undefined) {
      // Server-side apply makes what is not there.
      if (method === 'PATCH' && searchParams.has('force')) {
        return this.#create(dirname(path), JSON.parse(String(body)) as AnyObject);
      }
      const items = [...this.objects].filter(([key]) => dirname(key) === path).map(([, object]) => object);
      if (items.length > 0 || this.#isCollection(path)) {
        return { status: 200, body: { metadata: { resourceVersion: '1' }, items } };
      }
      return { status: 404, body: { reason: 'NotFound', message: `${path} not found` } };
    }
    if (method === 'GET') return { status: 200, body: present };
    if (method === 'DELETE') {
      this.objects.delete(path);
      return { status: 200, body: { kind: 'Status', status: 'Success' } };
    }
    if (method === 'PUT') {
      const replaced = JSON.parse(String(body)) as AnyObject;
      this.objects.set(path, replaced);
      return { status: 200, body: replaced };
    }
    const after = merged(present, JSON.parse(String(body))) as AnyObject;
    this.objects.set(path, after);
    return { status: 200, body: after };
  }

  #isCollection(path: string): boolean {
    const isOf = ([group, kinds]: readonly [string, Map<string, Kind>]): boolean =>
      path.startsWith(`${group}/`) && [...kinds.values()].some(({ name }) => path.endsWith(`/${name}`));
    return [...this.#kinds].some(isOf);
  }

  #create(path: string, given: AnyObject): { readonly status: number; readonly body: unknown } {
    const reason = this.refused.get(given.metadata.name);
    if (reason !== undefined) return { status: 422, body: { reason: 'Invalid', message: reason } };
    const isDefinition = given.kind === 'CustomResourceDefinition';
    const status = isDefinition ? { status: { conditions: [{ type: 'Established', status: 'True' }] } } : {};
    const object = {
      ...given,
      metadata: { ...given.metadata, generation: 1, resourceVersion: '1' },
      ...status,
      ...this.onCreate(given),
    };
    this.objects.set(`${path}/${given.metadata.name}`, object);
    if (isDefinition) {
      const { group, names, scope } = given['spec'] as {
        readonly group: string;
        readonly names: { readonly kind: string; readonly plural: string };
        readonly scope: string;
      };
      this.#know(`${group}/v1`, { name: names.plural, kind: names.kind, namespaced: scope === 'Namespaced' });
    }
    return { status: 201, body: object };
  }
}

/** Good enough for a fake: it is asked only in its own words. */
function pluralOf(kind: string): string {
  return `${kind.toLowerCase()}s`;
}
