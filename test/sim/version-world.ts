// A cluster in memory with a version operator: the API, a payload on a disk, a controller that makes Deployments
// available after a while, and operators that are killed at any of their writes. Every status that was ever written is
// kept, so that a test can say what must never be seen.
import {
  type ClusterOperatorStatus,
  type ClusterVersionSpec,
  clusterVersionReference,
  payloadAnnotations,
  payloadFiles,
  type StatusCondition,
} from '../../src/contract/cluster-version.ts';
import { type FakeHost, fakeHost } from '../../src/host/fake/fake-host.ts';
import { conditionOf } from '../../src/kubernetes/conditions.ts';
import type { KubernetesObject } from '../../src/kubernetes/object.ts';
import { toYamlDocuments } from '../../src/kubernetes/yaml.ts';
import type { Operator, OperatorSight, Verdict } from '../../src/operators/operator.ts';
import { runVersionOperator } from '../../src/version-operator/run-operator.ts';
import type { ClusterVersionObject } from '../../src/version-operator/version-status.ts';
import { type RequestFault, SimApi } from './sim-api.ts';

const release = { version: '0.2.0', image: 'registry.test/release@sha256:aa' } as const;
const root = '/release';

/** File of the payload → its objects, or a text that is none. */
export type PayloadSample = Readonly<Record<string, readonly KubernetesObject[] | string>>;

function object(apiVersion: string, kind: string, metadata: KubernetesObject['metadata'], rest: object = {}) {
  const annotations = { [payloadAnnotations.include]: 'true', ...metadata.annotations };
  return { apiVersion, kind, metadata: { ...metadata, annotations }, ...rest } as KubernetesObject;
}

export function deployment(namespace: string, name: string, annotations: Readonly<Record<string, string>> = {}) {
  const containers = [{ name, image: `registry.test/${name}@sha256:bb`, args: ['--domain={{APPS_DOMAIN}}'] }];
  const spec = { replicas: 2, template: { spec: { containers } } };
  return object('apps/v1', 'Deployment', { name, namespace, annotations }, { spec });
}

const storage = { [payloadAnnotations.capability]: 'Storage' };
const crdSpec = { group: 'demo.test', names: { kind: 'Demo', plural: 'demos' }, scope: 'Cluster' };

export const samplePayload: PayloadSample = {
  '0000_00_dns_00_namespace.yaml': [object('v1', 'Namespace', { name: 'dns' })],
  '0000_05_demo_00_kind.yaml': [
    object('apiextensions.k8s.io/v1', 'CustomResourceDefinition', { name: 'demos.demo.test' }, { spec: crdSpec }),
  ],
  '0000_50_storage_00_all.yaml': [
    object('v1', 'Namespace', { name: 'storage', annotations: storage }),
    deployment('storage', 'provisioner', storage),
  ],
  '0000_70_dns_00_rights.yaml': [
    object('v1', 'ServiceAccount', { name: 'dns', namespace: 'dns' }),
    object('rbac.authorization.k8s.io/v1', 'ClusterRole', { name: 'dns' }, { rules: [{ verbs: ['list', 'watch'] }] }),
  ],
  '0000_70_dns_01_all.yaml': [
    object('v1', 'ConfigMap', { name: 'corefile', namespace: 'dns' }, { data: { Corefile: '.:53' } }),
    deployment('dns', 'coredns'),
    object('v1', 'Service', { name: 'dns', namespace: 'dns' }, { spec: { clusterIP: '{{DNS_ADDRESS}}', ports: [53] } }),
  ],
};

const yes = (message: string): Verdict => ({ isSo: true, reason: 'AsExpected', message });
const no = (reason: string, message: string): Verdict => ({ isSo: false, reason, message });

/** Available when its Deployment is; degraded when the Deployment says so in a label. */
function operator(name: string, deploymentName: string, rest: Partial<Operator> = {}): Operator {
  const judge = (seen: OperatorSight) => {
    const [live] = seen.objects('Deployment');
    const isAvailable = live !== undefined && conditionOf(live, 'Available')?.status === 'True';
    const trouble = live?.metadata.labels?.['trouble'];
    return {
      available: isAvailable ? yes('all replicas answer') : no('NoReplica', `${deploymentName} has no replica`),
      progressing: isAvailable ? no('AsExpected', '') : yes('it starts'),
      degraded: trouble === undefined ? no('AsExpected', '') : { isSo: true, reason: 'Trouble', message: trouble },
      versions: { operator: seen.version },
    };
  };
  const sighting = { apiVersion: 'apps/v1', kind: 'Deployment', namespace: name, name: deploymentName };
  const base = { name, why: 'a sample', level: 70, images: [], manifests: () => [], looksAt: [sighting] };
  return { ...base, judge, relatedObjects: [], ...rest };
}

const sampleOperators: readonly Operator[] = [
  operator('dns', 'coredns'),
  operator('storage', 'provisioner', { capability: 'Storage', level: 50 }),
];

export interface VersionWorldOptions {
  readonly payload?: PayloadSample;
  readonly spec?: Omit<ClusterVersionSpec, 'clusterID'>;
  /** Without the configuration objects. */
  readonly isBare?: boolean;
}

export class VersionWorld {
  readonly host: FakeHost = fakeHost();
  readonly api = new SimApi(this.host);
  /** Every status of the ClusterVersion, in order. */
  readonly statuses: ClusterVersionObject[] = [];
  readonly lines: string[] = [];
  /** How long a Deployment takes to come up. */
  readyMs = 3_000;
  readonly #end = new AbortController();
  readonly #living: Promise<unknown>[] = [];

  static async make(options: VersionWorldOptions = {}): Promise<VersionWorld> {
    const world = new VersionWorld();
    await world.#writePayload(options.payload ?? samplePayload);
    world.#populate(options);
    return world;
  }

  async #writePayload(payload: PayloadSample): Promise<void> {
    const folder = `${root}/${payloadFiles.folder}`;
    const { files } = this.host;
    await files.makeFolder(folder);
    for (const [name, content] of Object.entries(payload)) {
      await files.write(`${folder}/${name}`, typeof content === 'string' ? content : toYamlDocuments(content));
    }
    const { version } = release;
    const stream = { kind: 'ImageStream', metadata: { name: version }, spec: { tags: [] } };
    await files.write(`${folder}/${payloadFiles.images}`, JSON.stringify(stream));
    const metadata = { kind: 'cincinnati-metadata-v0', version, previous: [] };
    await files.write(`${folder}/${payloadFiles.metadata}`, JSON.stringify(metadata));
  }

  #populate({ spec, isBare = false }: VersionWorldOptions): void {
    const { apiVersion, kind, name } = clusterVersionReference;
    this.api.onChange = ({ type, resource, object: changed }) => {
      if (resource === 'clusterversions') this.statuses.push(changed);
      if (type === 'ADDED' && resource === 'customresourcedefinitions') this.#establish(changed.metadata.name);
      if (type === 'ADDED' && resource === 'deployments') this.#rollOut(changed);
    };
    const clusterID = '5f0c9c9e-8a53-4f0c-9d3c-0a4f3c1f8f62';
    this.api.put('namespaces', {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: 'openshift-cluster-version' },
    });
    this.api.put('clusterversions', { apiVersion, kind, metadata: { name }, spec: { clusterID, ...spec } });
    if (!isBare) this.configure();
  }

  /** The configuration objects of the cluster. */
  configure(): void {
    const put = (kind: string, plural: string, content: object): void => {
      this.api.put(plural, {
        apiVersion: clusterVersionReference.apiVersion,
        kind,
        metadata: { name: 'cluster' },
        ...content,
      });
    };
    const status = { apiServerInternalURI: 'https://api-int.demo.firstlight.test:6443' };
    put('Infrastructure', 'infrastructures', { spec: { platform: 'local' }, status });
    put('Network', 'networks', { spec: { serviceNetwork: ['172.30.0.0/16'] } });
    put('Ingress', 'ingresses', { spec: { domain: 'apps.demo.firstlight.test' } });
  }

  #establish(name: string): void {
    this.host.clock.after(150, () => {
      const status = { conditions: [{ type: 'Established', status: 'True' }] };
      this.api.patch('customresourcedefinitions', name, { status });
    });
  }

  #rollOut({ metadata: { name, namespace } }: KubernetesObject): void {
    this.host.clock.after(this.readyMs, () => {
      const conditions = [
        { type: 'Available', status: 'True' },
        { type: 'Progressing', status: 'True' },
      ];
      this.api.patch('deployments', name, { status: { conditions } }, namespace);
    });
  }

  get version(): ClusterVersionObject {
    return this.api.find('clusterversions', 'version') as ClusterVersionObject;
  }

  condition(type: string): Pick<StatusCondition, 'status' | 'reason' | 'message'> | undefined {
    const found = this.version.status?.conditions?.find((each) => each.type === type);
    return found === undefined ? undefined : { status: found.status, reason: found.reason, message: found.message };
  }

  operatorStatus(name: string): ClusterOperatorStatus | undefined {
    return this.api.find('clusteroperators', name)?.['status'] as ClusterOperatorStatus | undefined;
  }

  /** Runs until the world ends or it is killed: before or after its nth write. */
  start(killAtWrite = Number.POSITIVE_INFINITY): { readonly killed: Promise<void> } {
    const life = new AbortController();
    let writes = 0;
    const fault: RequestFault = ({ isWrite }) => {
      if (life.signal.aborted) return 'lose-request';
      writes += isWrite ? 1 : 0;
      if (!isWrite || writes < killAtWrite) return undefined;
      life.abort(new Error('killed'));
      return killAtWrite % 2 === 0 ? 'lose-request' : 'lose-answer';
    };
    const running = this.#operate(AbortSignal.any([life.signal, this.#end.signal]), fault);
    this.#living.push(running);
    return { killed: running };
  }

  async #operate(signal: AbortSignal, fault: RequestFault): Promise<void> {
    await using client = await this.api.client(fault);
    const log = (line: string): void => void this.lines.push(line);
    const options = { client, payloadRoot: root, releaseImage: release.image, node: 'master-0', signal, log };
    try {
      await runVersionOperator(this.host, { ...options, operators: sampleOperators });
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }

  /** Waits in the time of the world; fails with what is not so. */
  async until(what: string, isSo: () => boolean, limitMs = 120_000): Promise<number> {
    const { clock } = this.host;
    const startMs = clock.monotonicMs();
    while (!isSo()) {
      if (clock.monotonicMs() - startMs > limitMs) {
        throw new Error(`${what} did not happen within ${limitMs / 1000} s:\n${this.lines.join('\n')}`);
      }
      await clock.sleep(100);
    }
    return clock.monotonicMs() - startMs;
  }

  isSettled(): boolean {
    return this.condition('Progressing')?.status === 'False' && this.condition('Available')?.status === 'True';
  }

  /** Everything but what differs from run to run. */
  objects(): readonly string[] {
    return this.api.log
      .map(({ resource, object: { metadata } }) => [resource, metadata.namespace ?? '', metadata.name] as const)
      .filter(([resource]) => resource !== 'leases' && resource !== 'clusterversions')
      .map(
        ([resource, namespace, name]) =>
          `${resource} ${JSON.stringify(plain(this.api.find(resource, name, namespace)))}`,
      )
      .filter((text, at, all) => all.indexOf(text) === at)
      .sort();
  }

  async end(): Promise<void> {
    this.#end.abort(new Error('the world ends'));
    await Promise.all(this.#living);
  }
}

/** Without versions, ids and times. */
function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null) return value;
  const hidden = ['uid', 'resourceVersion', 'creationTimestamp', 'lastTransitionTime', 'generation'];
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => !hidden.includes(key))
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([key, item]) => [key, plain(item)]),
  );
}
