// An API of the cluster in memory, for tests of the progress API: attempts that are compared when they are written, a
// watch of them, Secrets of nodes, and the reviews of tokens.
import { attemptKind, attemptName, type InPlaceSystem, reporterAudience } from '../src/contract/in-place.ts';
import type { KubernetesClient } from '../src/kubernetes/client.ts';
import { kubernetesErrors } from '../src/kubernetes/errors.ts';
import type { KubernetesObject } from '../src/kubernetes/object.ts';
import { Doorbell } from '../src/workflow/doorbell.ts';

export const sampleIds = { cluster: 'demo-1', node: 'worker-0', attemptId: '11111111-2222-4333-8444-555555555555' };

interface SampleAttempt {
  readonly node: string;
  readonly attemptId: string;
  readonly createdAt?: string;
  readonly os?: InPlaceSystem;
}

export interface SampleApi {
  /** A client as each server has its own; its watch waits for `lag` before every object. */
  connect(lag?: () => Promise<void>): KubernetesClient;
  status(name?: string): Record<string, never> & { readonly report: { readonly ackSeq: number } };
  setStatus(status: object, name?: string): void;
  addAttempt(attempt: SampleAttempt): string;
  readonly secrets: Map<string, Readonly<Record<string, string>>>;
  /** Token of a pod → its node, and who it is. */
  readonly pods: Map<string, { readonly node?: string; readonly username: string; readonly audiences?: string[] }>;
  /** Every call, such as `patch worker-0.11111111`. */
  readonly calls: string[];
  isAway: boolean;
}

export function sampleApi(): SampleApi {
  const objects = new Map<string, KubernetesObject>();
  const changes = new Doorbell();
  const log: KubernetesObject[] = [];
  let version = 100;
  const put = (object: KubernetesObject): KubernetesObject => {
    version += 1;
    const made = { ...object, metadata: { ...object.metadata, resourceVersion: String(version) } };
    objects.set(object.metadata.name, made);
    log.push(made);
    changes.ring();
    return made;
  };
  const theOnly = attemptName(sampleIds.node, sampleIds.attemptId);
  const api: SampleApi = {
    secrets: new Map(),
    pods: new Map(),
    calls: [],
    isAway: false,
    addAttempt: ({ node, attemptId, createdAt = '2026-01-01T00:00:00Z', os = 'rhcos' }) => {
      const name = attemptName(node, attemptId);
      const spec = { node, attemptId, os, notAfter: '2027-01-01T00:00:00Z', clusterId: sampleIds.cluster };
      put({ ...attemptKind, metadata: { name, creationTimestamp: createdAt }, spec });
      return name;
    },
    status: (name = theOnly) => objects.get(name)?.['status'] as never,
    setStatus: (status, name = theOnly) => {
      const object = objects.get(name);
      if (object !== undefined) put({ ...object, status: { ...(object['status'] as object), ...status } });
    },
    connect: (lag = async () => {}) => connect(api, { objects, log, changes, put, lag }),
  };
  return api;
}

interface Store {
  readonly objects: ReadonlyMap<string, KubernetesObject>;
  readonly log: readonly KubernetesObject[];
  readonly changes: Doorbell;
  readonly put: (object: KubernetesObject) => KubernetesObject;
  readonly lag: () => Promise<void>;
}

function connect(api: SampleApi, store: Store): KubernetesClient {
  const called = (call: string): void => {
    api.calls.push(call);
    const about = { what: call, server: 'https://api', reason: 'connection refused' };
    if (api.isAway) throw kubernetesErrors.UNREACHABLE({ ...about, failure: 'refused' });
  };
  const client: Partial<KubernetesClient> = {
    server: 'https://api',
    list: async () => {
      called('list');
      return { items: [...store.objects.values()] as never[], resourceVersion: String(store.log.length) };
    },
    openWatch: async (_kind, _selection, { resourceVersion, signal }) =>
      watched(store, Number(resourceVersion), signal),
    find: async ({ kind, name }) => {
      called(`find ${name}`);
      if (kind !== 'Secret') return store.objects.get(name) as never;
      const data = api.secrets.get(name);
      const encode = (value: string): string => Buffer.from(value).toString('base64');
      const encoded = Object.entries(data ?? {}).map(([key, value]) => [key, encode(value)] as const);
      const metadata = { name };
      return data && ({ apiVersion: 'v1', kind, metadata, data: Object.fromEntries(encoded) } as never);
    },
    create: async (object) => {
      called('review');
      const { token } = object['spec'] as { readonly token: string };
      return { ...object, status: review(api, token) };
    },
    mergePatch: async ({ name }, patch) => {
      called(`patch ${name}`);
      const { metadata, status } = patch as { readonly metadata: { resourceVersion: string }; readonly status: object };
      const object = store.objects.get(name);
      if (object === undefined || object.metadata.resourceVersion !== metadata.resourceVersion) {
        throw kubernetesErrors.CONFLICT({ what: `patch ${name}`, server: 'https://api', reason: 'it was modified' });
      }
      return store.put({ ...object, status: { ...(object['status'] as object), ...status } }) as never;
    },
    [Symbol.asyncDispose]: async () => {},
  };
  return client as KubernetesClient;
}

function review({ pods }: SampleApi, token: string): object {
  const pod = pods.get(token);
  if (pod === undefined) return { error: 'the signature is wrong' };
  const extra = pod.node === undefined ? {} : { 'authentication.kubernetes.io/node-name': [pod.node] };
  const { username, audiences = [reporterAudience] } = pod;
  return { authenticated: true, audiences, user: { username, extra } };
}

async function* watched({ log, changes, lag }: Store, from: number, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  for (let at = from; ; ) {
    const { rings } = changes;
    if (signal.aborted) throw signal.reason as Error;
    const object = log[at];
    if (object === undefined) {
      await changes.rung(rings, signal);
      continue;
    }
    await lag();
    yield Buffer.from(`${JSON.stringify({ type: 'MODIFIED', object })}\n`);
    at += 1;
  }
}

/** The form of a token of a pod; whether it is genuine, the review says. */
export function podToken(node: string, claims: object = {}): string {
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const sub = 'system:serviceaccount:ipb-system:ipb';
  return `${part({ alg: 'RS256' })}.${part({ sub, aud: [reporterAudience], exp: 1e12, node, ...claims })}.signature`;
}

export function secretOf(node = sampleIds.node, attemptId = sampleIds.attemptId): Readonly<Record<string, string>> {
  return { os: 'rhcos', 'attempt-id': attemptId, 'not-after': '2027-01-01T00:00:00Z', 'ignition-token': `of ${node}` };
}
