// A client of etcd: a few calls with plain values in and out. A call returns a value, also when etcd refuses it; only
// an abort throws. Members are added as learners only: a voter that never starts could cost the cluster its quorum.
import type { Clock } from '../host/clock.ts';
import type { Secret } from '../host/secret.ts';
import { alarmNumbers, memberFrom, type RawMembers, type RawRange, type RawStatus, statusFrom } from './decode.ts';
import { etcdErrors } from './errors.ts';
import type { Channel, RpcOptions as GrpcOptions } from './grpc.ts';
import {
  type Alarm,
  clusterId,
  decimalOf,
  type Member,
  type MemberId,
  type MemberList,
  type MemberStatus,
} from './member.ts';
import { type CallOutcome, classify } from './outcomes.ts';

/** The certificate that a client shows to the members, and the authority against which it checks theirs. */
export interface EtcdTls {
  readonly caPem: string;
  readonly certificatePem: string;
  readonly keyPem: Secret;
}

export interface Failure {
  readonly status: 'failed';
  readonly call: string;
  readonly url: string;
  readonly outcome: CallOutcome;
  /** The message of etcd or of gRPC. */
  readonly said: string;
}

export type Answer<T> = { readonly status: 'ok'; readonly value: T } | Failure;

export interface EtcdCallOptions {
  readonly timeoutMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface StoredValue {
  readonly value: Uint8Array;
  readonly modRevision: number;
}

/** One member, at one of its client URLs. */
export interface EtcdClient {
  readonly url: string;
  memberList(options: EtcdCallOptions & { readonly isLinearizable: boolean }): Promise<Answer<MemberList>>;
  addLearner(peerUrl: string, options?: EtcdCallOptions): Promise<Answer<readonly Member[]>>;
  promote(id: MemberId, options?: EtcdCallOptions): Promise<Answer<readonly Member[]>>;
  remove(id: MemberId, options?: EtcdCallOptions): Promise<Answer<readonly Member[]>>;
  /** Only the leader can do it: call it at the leader's URL. Resolves when the other member leads. */
  moveLeader(to: MemberId, options?: EtcdCallOptions): Promise<Answer<void>>;
  status(options?: EtcdCallOptions): Promise<Answer<MemberStatus>>;
  /** Clears an alarm. Read alarms with `status`: a request for the alarms would go through etcd's log. */
  disarm(alarm: Alarm, options?: EtcdCallOptions): Promise<Answer<void>>;
  /** Serializable: from the member's own copy. Otherwise a majority has confirmed the value. */
  get(
    key: string,
    options: EtcdCallOptions & { readonly isSerializable: boolean },
  ): Promise<Answer<StoredValue | undefined>>;
  put(key: string, value: string | Uint8Array, options?: EtcdCallOptions): Promise<Answer<void>>;
  /** Puts only if the key was last written at `modRevision` (0: does not exist). False: another write came first. */
  putIf(
    key: string,
    value: string | Uint8Array,
    options: EtcdCallOptions & { readonly modRevision: number },
  ): Promise<Answer<boolean>>;
  /** The whole database as a stream, with its checksum at the end, as etcdutl restores it. */
  snapshot(options: { readonly idleMs: number; readonly signal?: AbortSignal }): AsyncIterable<Uint8Array>;
}

export interface EtcdClients extends Disposable {
  /** The member at this client URL; connections are kept per URL. */
  at(url: string): EtcdClient;
}

const readMs = 1000;
/** Longer than the 7 s after which etcd itself gives up, because its answer says more than our timeout. */
const changeMs = 10_000;

export function etcdClients(tls: EtcdTls, clock: Clock): EtcdClients {
  const channels = new Map<string, Promise<Channel>>();
  const channel = (url: string): Promise<Channel> => {
    const known = channels.get(url);
    if (known !== undefined) return known;
    const opened = import('./grpc.ts').then(({ openChannel }) => openChannel(mustBeMemberUrl(url), tls, clock));
    channels.set(url, opened);
    return opened;
  };
  return {
    at: (url) => clientOf(url, () => channel(url)),
    [Symbol.dispose]: () => {
      for (const opened of channels.values()) void opened.then((open) => open[Symbol.dispose]()).catch(() => {});
      channels.clear();
    },
  };
}

/** The value; throws ETCD_CALL for callers that do not handle a refusal. */
export function valueOfAnswer<T>(answer: Answer<T>): T {
  if (answer.status === 'ok') return answer.value;
  throw etcdErrors.CALL(answer);
}

function mustBeMemberUrl(url: string): string {
  if (!URL.canParse(url) || !url.startsWith('https://') || new URL(url).port === '') throw etcdErrors.BAD_URL({ url });
  return url;
}

interface AskMember {
  <T>(
    call: string,
    request: object,
    how: Required<Pick<GrpcOptions, 'timeoutMs'>> & EtcdCallOptions,
  ): Promise<Answer<T>>;
}

function clientOf(url: string, channel: () => Promise<Channel>): EtcdClient {
  const ask: AskMember = async <T>(call: string, request: object, how: GrpcOptions): Promise<Answer<T>> => {
    const answer = await (await channel()).unary(call, request, how);
    if (answer.status === 'ok') return { status: 'ok', value: answer.value as T };
    return { status: 'failed', call, url, outcome: classify(answer.code, answer.details), said: answer.details };
  };
  return {
    url,
    ...memberCalls(ask),
    ...maintenanceCalls(ask),
    ...keyCalls(ask),
    snapshot: async function* ({ idleMs, signal }) {
      const messages = (await channel()).stream('Maintenance/Snapshot', {}, { timeoutMs: idleMs, signal });
      for await (const message of messages) yield (message as { readonly blob: Uint8Array }).blob;
    },
  };
}

function memberCalls(ask: AskMember): Pick<EtcdClient, 'memberList' | 'addLearner' | 'promote' | 'remove'> {
  const change = async (call: string, request: object, options?: EtcdCallOptions): Promise<Answer<readonly Member[]>> =>
    mapAnswer(await ask<RawMembers>(call, request, callOptions(changeMs, options)), ({ members }) =>
      members.map(memberFrom),
    );
  return {
    memberList: async (options) =>
      mapAnswer(
        await ask<RawMembers>(
          'Cluster/MemberList',
          { linearizable: options.isLinearizable },
          callOptions(readMs, options),
        ),
        ({ header, members }) => ({ clusterId: clusterId(header.clusterId), members: members.map(memberFrom) }),
      ),
    addLearner: (peerUrl, options) => change('Cluster/MemberAdd', { peerURLs: [peerUrl], isLearner: true }, options),
    promote: (id, options) => change('Cluster/MemberPromote', { ID: decimalOf(id) }, options),
    remove: (id, options) => change('Cluster/MemberRemove', { ID: decimalOf(id) }, options),
  };
}

function maintenanceCalls(ask: AskMember): Pick<EtcdClient, 'status' | 'moveLeader' | 'disarm'> {
  const deactivate = 2;
  return {
    status: async (options) =>
      mapAnswer(await ask<RawStatus>('Maintenance/Status', {}, callOptions(readMs, options)), statusFrom),
    moveLeader: async (to, options) =>
      withoutValue(await ask('Maintenance/MoveLeader', { targetID: decimalOf(to) }, callOptions(changeMs, options))),
    disarm: async (alarm, options) => {
      const request = { action: deactivate, memberID: decimalOf(alarm.member), alarm: alarmNumbers[alarm.kind] };
      return withoutValue(await ask('Maintenance/Alarm', request, callOptions(changeMs, options)));
    },
  };
}

function keyCalls(ask: AskMember): Pick<EtcdClient, 'get' | 'put' | 'putIf'> {
  return {
    get: async (key, options) => {
      const request = { key: Buffer.from(key), serializable: options.isSerializable };
      return mapAnswer(await ask<RawRange>('KV/Range', request, callOptions(readMs, options)), ({ kvs: [found] }) =>
        found === undefined ? undefined : { value: found.value, modRevision: Number(found.modRevision) },
      );
    },
    put: async (key, value, options) =>
      withoutValue(
        await ask('KV/Put', { key: Buffer.from(key), value: Buffer.from(value) }, callOptions(changeMs, options)),
      ),
    putIf: async (key, value, options) => {
      const equal = { result: 0, target: 2, key: Buffer.from(key), modRevision: String(options.modRevision) };
      const put = { requestPut: { key: Buffer.from(key), value: Buffer.from(value) } };
      const request = { compare: [equal], success: [put], failure: [] };
      const answer = await ask<{ readonly succeeded: boolean }>('KV/Txn', request, callOptions(changeMs, options));
      return mapAnswer(answer, ({ succeeded }) => succeeded);
    },
  };
}

function callOptions(timeoutMs: number, options: EtcdCallOptions | undefined): GrpcOptions {
  return { timeoutMs: options?.timeoutMs ?? timeoutMs, signal: options?.signal };
}

function mapAnswer<A, B>(answer: Answer<A>, change: (value: A) => B): Answer<B> {
  return answer.status === 'ok' ? { status: 'ok', value: change(answer.value) } : answer;
}

function withoutValue(answer: Answer<unknown>): Answer<void> {
  return mapAnswer(answer, () => undefined);
}

/** Clients that accept a renewed certificate: `use` opens new connections when the certificate has changed. */
export class RenewingEtcdClients implements EtcdClients {
  readonly #clock: Clock;
  #current: { readonly certificatePem: string; readonly clients: EtcdClients } | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  use(tls: EtcdTls): this {
    if (this.#current?.certificatePem === tls.certificatePem) return this;
    this[Symbol.dispose]();
    this.#current = { certificatePem: tls.certificatePem, clients: etcdClients(tls, this.#clock) };
    return this;
  }

  at(url: string): EtcdClient {
    if (this.#current === undefined) throw new Error('no certificate was given to the clients of etcd');
    return this.#current.clients.at(url);
  }

  [Symbol.dispose](): void {
    this.#current?.clients[Symbol.dispose]();
    this.#current = undefined;
  }
}
