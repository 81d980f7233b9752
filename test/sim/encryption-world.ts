// Masters, their kube-apiservers and etcd in memory, as far as the encryption of Secrets is concerned. Agents run the
// real duty, the command is the real one; a Secret is stored with the name of the key that encrypted it, and a server
// that has not loaded that key cannot read it. Every such failure is written down.
import {
  encryptionConfigurationText,
  encryptionDigest,
  newEncryptionKey,
  readEncryptionKeys,
  secretsEncryptionFile,
} from '../../src/contract/secrets-encryption.ts';
import { certificateFile, componentFile, keyFile } from '../../src/control-plane/control-plane-paths.ts';
import { replaceMasterKey } from '../../src/control-plane/machine-credentials.ts';
import { type FakeHost, fakeHost } from '../../src/host/fake/fake-host.ts';
import type { HttpAnswer, HttpRequest, Network } from '../../src/host/network.ts';
import { connectKubernetes, type KubernetesClient } from '../../src/kubernetes/client.ts';
import { kubeconfigText } from '../../src/kubernetes/kubeconfig.ts';
import type { KubernetesObject } from '../../src/kubernetes/object.ts';
import { followEncryptionKeys, secretsEncryptionDuty } from '../../src/node/duties/secrets-encryption.ts';
import { type FakeAgent, fakeAgent } from './agent-fixture.ts';

interface Stored {
  readonly object: KubernetesObject;
  readonly encryptedBy: string | undefined;
}

interface Master {
  readonly name: string;
  readonly agent: FakeAgent;
  isUp: boolean;
  /** What its kube-apiserver has loaded; undefined until it serves. */
  loaded: string | undefined;
}

/** What kube-apiserver of a master reads. */
const readFile = componentFile('kube-apiserver', secretsEncryptionFile);
/** What a config server gives to a master that joins. */
const givenFile = `/etc/kubernetes/pki/${secretsEncryptionFile}`;
const reloadMs = 60_000;
const api = 'https://api-int.demo.firstlight.test:6443';

export class EncryptionWorld {
  readonly host: FakeHost;
  readonly masters: Master[] = [];
  /** Secrets that a serving master could not read. */
  readonly unreadable: string[] = [];
  readonly #stored = new Map<string, Stored>();
  readonly #end = new AbortController();
  #version = 0;
  #turn = 0;

  constructor(seed: string) {
    this.host = fakeHost({ seed, network: this.#networkOf(undefined) });
  }

  /** Three masters that serve with the first key, and some Secrets that it encrypted. */
  async start(): Promise<void> {
    const text = encryptionConfigurationText([newEncryptionKey(this.host.random, this.host.clock.now())]);
    for (const n of [0, 1, 2]) {
      const master = await this.#master(`master-${n}`, text);
      master.loaded = text;
      this.register(master.name);
      this.#live(master, n);
    }
    for (let n = 0; n < 20; n += 1) this.put(`app-${n}`);
    // So that the first key and the second one are not made in the same second.
    await this.host.clock.sleep(30_000);
  }

  get hasEnded(): boolean {
    return this.#end.signal.aborted;
  }

  end(): void {
    this.#end.abort(new Error('the world ends'));
  }

  /** A master that received its keys from another one now, is a node soon, and serves later. */
  async join(name: string): Promise<void> {
    const given = await this.masters[0]?.agent.host.files.readText(givenFile);
    const master = await this.#master(name, given ?? '');
    await this.host.clock.sleep(3_000);
    this.register(name);
    await this.host.clock.sleep(12_000);
    await followEncryptionKeys(master.agent);
    master.loaded = await master.agent.host.files.readText(readFile);
    this.#live(master, 7);
  }

  register(name: string): void {
    const labels = { 'node-role.kubernetes.io/control-plane': '' };
    const status = { conditions: [{ type: 'Ready', status: 'True' }] };
    this.#store(`/api/v1/nodes/${name}`, { apiVersion: 'v1', kind: 'Node', metadata: { name, labels }, status });
  }

  /** A user writes a Secret. */
  put(name: string): void {
    const object = { apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace: 'default' } };
    this.#store(`/api/v1/namespaces/default/secrets/${name}`, object, this.#server());
  }

  /** A user deletes a Secret. */
  remove(name: string): void {
    this.#stored.delete(`/api/v1/namespaces/default/secrets/${name}`);
  }

  /** A user reads all Secrets, through every master. */
  readAll(): void {
    for (const server of this.#serving()) for (const path of this.#stored.keys()) this.#read(path, server);
  }

  encryptedBy(): ReadonlySet<string | undefined> {
    const secrets = [...this.#stored].filter(([path]) => path.includes('/secrets/'));
    return new Set(secrets.map(([, { encryptedBy }]) => encryptedBy));
  }

  async client(host: FakeHost = this.host): Promise<KubernetesClient> {
    const text = kubeconfigText({
      cluster: 'c',
      server: api,
      caPem: 'ca',
      user: 'u',
      credential: { kind: 'token', token: 't' },
    });
    return connectKubernetes(host, { text });
  }

  async #master(name: string, text: string): Promise<Master> {
    const made = fakeAgent({ network: this.#networkOf(name) });
    const { host } = made;
    const agent: FakeAgent = {
      ...made,
      host: { ...host, clock: this.host.clock },
      node: { name, addresses: ['10.99.0.12'], role: 'master' },
      api: () => this.client(host),
    };
    await host.files.makeFolder('/etc/kubernetes/pki');
    for (const file of [certificateFile('node-agent'), keyFile('node-agent'), '/etc/kubernetes/pki/apiserver-ca.crt']) {
      await host.files.makeFolder(file.slice(0, file.lastIndexOf('/')));
      await host.files.write(file, 'pem');
    }
    await replaceMasterKey(host, secretsEncryptionFile, text);
    const master: Master = { name, agent, isUp: true, loaded: undefined };
    this.masters.push(master);
    return master;
  }

  /** Its agent and the reload of its kube-apiserver, from now on. */
  #live(master: Master, phase: number): void {
    const keep = async (pauseMs: () => number, step: () => Promise<unknown>): Promise<void> => {
      while (!this.#end.signal.aborted) {
        if (master.isUp) await step().catch(() => {});
        await this.host.clock.sleep(pauseMs(), this.#end.signal).catch(() => {});
      }
    };
    let tickMs = 0;
    void keep(
      () => tickMs,
      async () => {
        const { status } = await secretsEncryptionDuty.run(master.agent);
        tickMs = (status === 'settled' ? secretsEncryptionDuty.settledTickMs : secretsEncryptionDuty.tickMs) ?? 1_000;
      },
    );
    let isFirst = true;
    void keep(
      () => {
        const ms = isFirst ? reloadMs * (phase / 10) : reloadMs;
        isFirst = false;
        return ms;
      },
      async () => {
        master.loaded = await master.agent.host.files.readText(readFile);
      },
    );
  }

  #serving(): readonly Master[] {
    return this.masters.filter(({ isUp, loaded }) => isUp && loaded !== undefined);
  }

  /** The load balancer: each master in turn. */
  #server(): Master {
    const serving = this.#serving();
    const chosen = serving[this.#turn % serving.length];
    this.#turn += 1;
    if (chosen === undefined) throw new Error('no master serves');
    return chosen;
  }

  #networkOf(machine: string | undefined): Partial<Network> {
    const request = async (asked: HttpRequest): Promise<HttpAnswer> => {
      await this.host.clock.sleep(5, asked.signal);
      const { status, body } = this.#answer(asked, machine);
      return { status, headers: {}, body: Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)) };
    };
    const open = async (): Promise<never> => {
      throw new Error('nothing is watched here');
    };
    return { request, open, keepConnections: () => ({ request, open, [Symbol.dispose]: () => {} }) };
  }

  #answer({ url, method = 'GET', body }: HttpRequest, machine: string | undefined): { status: number; body: unknown } {
    const { pathname, searchParams } = new URL(url);
    if (pathname === '/metrics') return { status: 200, body: this.#metricsOf(machine) };
    if (pathname === '/api/v1') return { status: 200, body: { resources } };
    const server = this.#server();
    const given = body === undefined ? undefined : (JSON.parse(String(body)) as KubernetesObject);
    if (method === 'POST' && given !== undefined) {
      const path = `${pathname}/${given.metadata.name}`;
      if (this.#stored.has(path)) return refusal(409, 'AlreadyExists');
      return { status: 201, body: this.#store(path, given, server) };
    }
    const isList = resources.some(({ name }) => pathname.endsWith(`/${name}`));
    if (isList) return { status: 200, body: this.#list(pathname, searchParams, server) };
    const present = this.#read(pathname, server);
    if (present === undefined) return refusal(404, 'NotFound');
    if (method === 'GET') return { status: 200, body: present };
    const wanted = given?.metadata?.resourceVersion;
    if (wanted !== undefined && wanted !== present.metadata.resourceVersion) return refusal(409, 'Conflict');
    return { status: 200, body: this.#store(pathname, merged(present, given) as KubernetesObject, server) };
  }

  #metricsOf(machine: string | undefined): string {
    const { loaded = '' } = this.masters.find(({ name }) => name === machine) ?? {};
    return `apiserver_encryption_config_controller_last_config_info{apiserver_id_hash="x",hash="${encryptionDigest(loaded)}"} 1\n`;
  }

  #list(pathname: string, query: URLSearchParams, server: Master): object {
    const kind = pathname.slice(pathname.lastIndexOf('/'));
    const label = query.get('labelSelector');
    const items = [...this.#stored.keys()]
      .filter((path) => path.includes(`${kind}/`))
      .map((path) => this.#read(path, server))
      .filter((object) => object !== undefined && (label === null || label in (object.metadata.labels ?? {})));
    return { metadata: { resourceVersion: String(this.#version) }, items };
  }

  #read(path: string, server: Master): KubernetesObject | undefined {
    const stored = this.#stored.get(path);
    if (stored?.encryptedBy === undefined) return stored?.object;
    if (!namesIn(server.loaded).includes(stored.encryptedBy)) {
      this.unreadable.push(`${server.name} cannot read ${path}, encrypted by ${stored.encryptedBy}`);
    }
    return stored.object;
  }

  #store(path: string, object: KubernetesObject, server?: Master): KubernetesObject {
    this.#version += 1;
    const metadata = { ...object.metadata, resourceVersion: String(this.#version) };
    const encryptedBy = path.includes('/secrets/') ? namesIn(server?.loaded)[0] : undefined;
    const stored = { object: { ...object, metadata }, encryptedBy };
    this.#stored.set(path, stored);
    return stored.object;
  }
}

const resources = [
  { name: 'secrets', kind: 'Secret', namespaced: true },
  { name: 'nodes', kind: 'Node', namespaced: false },
];

function refusal(status: number, reason: string): { status: number; body: object } {
  return { status, body: { kind: 'Status', reason, message: reason } };
}

const known = new Map<string, readonly string[]>();

/** The names of the keys in a text; each text is read once, because users read all Secrets all the time. */
export function namesIn(text = ''): readonly string[] {
  const names = known.get(text);
  if (names !== undefined) return names;
  const keys = readEncryptionKeys(text);
  known.set(text, 'mistake' in keys ? [] : keys.map(({ name }) => name));
  return namesIn(text);
}

/** RFC 7386. */
function merged(target: unknown, patch: unknown): unknown {
  if (typeof patch !== 'object' || patch === null) return patch;
  const result: Record<string, unknown> = typeof target === 'object' && target !== null ? { ...target } : {};
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete result[name];
    else result[name] = merged(result[name], value);
  }
  return result;
}
