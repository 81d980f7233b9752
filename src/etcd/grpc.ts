// The only file that uses gRPC. It is loaded on the first call (loading takes about 100 ms) and opens its own sockets,
// so no other file may import @grpc/*. Rule: no retries in here; only the caller knows whether a call may be repeated.
import { X509Certificate } from 'node:crypto';
import { Client, credentials, type CallOptions as GrpcOptions, Metadata, type ServiceError } from '@grpc/grpc-js';
import { fromJSON, type ServiceDefinition } from '@grpc/proto-loader';
import type { Clock } from '../host/clock.ts';
import type { EtcdTls } from './client.ts';
import { etcdErrors } from './errors.ts';
import { etcdWire } from './wire.ts';

export interface RpcOptions {
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

export type RpcAnswer =
  | { readonly status: 'ok'; readonly value: unknown }
  | { readonly status: 'failed'; readonly code: number; readonly details: string };

export interface Channel extends Disposable {
  unary(call: string, request: object, options: RpcOptions): Promise<RpcAnswer>;
  /** Messages of a server stream; ends with an error when none comes for `timeoutMs`. */
  stream(call: string, request: object, options: RpcOptions): AsyncIterable<unknown>;
}

const definitions = fromJSON(etcdWire as Parameters<typeof fromJSON>[0], {
  longs: String,
  defaults: true,
  arrays: true,
});
const deadlineExceeded = 4;

const channelOptions = {
  // Members are on the cluster's own network: no proxy, no TXT lookups, and sockets that close with their client.
  'grpc.enable_http_proxy': 0,
  'grpc.service_config_disable_resolution': 1,
  'grpc.use_local_subchannel_pool': 1,
  'grpc.enable_retries': 0,
  // A member that starts should be found quickly; gRPC would wait for a second and more between two tries.
  'grpc.initial_reconnect_backoff_ms': 100,
  'grpc.min_reconnect_backoff_ms': 100,
  'grpc.max_reconnect_backoff_ms': 100,
};

export function openChannel(url: string, tls: EtcdTls, clock: Clock): Channel {
  let client: Client | undefined;
  const current = (): Client => (client ??= connect(url, tls));
  const disconnect = (): void => {
    client?.close();
    client = undefined;
  };
  return {
    unary: async (call, request, options) => {
      const answer = await unary(current(), call, { request, options });
      // On a silent connection TCP waits for many seconds between retries, so the next call opens a new connection.
      if (answer.status === 'failed' && answer.code === deadlineExceeded) disconnect();
      return answer;
    },
    stream: (call, request, options) => stream(current(), call, { url, request, options, clock }),
    [Symbol.dispose]: disconnect,
  };
}

function connect(url: string, tls: EtcdTls): Client {
  const { hostname, host } = new URL(url);
  const address = hostname.replace(/^\[|\]$/g, '');
  const isIpv6 = address.includes(':');
  const isIpv4 = /^[0-9.]+$/.test(address);
  const target = isIpv6 ? `ipv6:${host}` : isIpv4 ? `ipv4:${host}` : `dns:///${host}`;
  const isAddress = isIpv6 || isIpv4;
  const secure = credentials.createSsl(
    Buffer.from(tls.caPem),
    Buffer.from(tls.keyPem.reveal()),
    Buffer.from(tls.certificatePem),
    { checkServerIdentity: (_name, { raw }) => identityMistake(address, isAddress, raw) },
  );
  // TLS has no server name for an address, and Node refuses one, but gRPC requires a name. The check above decides.
  const serverName = isAddress ? 'localhost' : address;
  return new Client(target, secure, { ...channelOptions, 'grpc.ssl_target_name_override': serverName });
}

function identityMistake(address: string, isAddress: boolean, raw: Buffer): Error | undefined {
  const certificate = new X509Certificate(raw);
  const isMeant = isAddress ? certificate.checkIP(address) : certificate.checkHost(address);
  return isMeant === undefined ? new Error(`the certificate is not one for ${address}`) : undefined;
}

function methodOf(call: string): ServiceDefinition[string] {
  const [service = '', method = ''] = call.split('/');
  const found = (definitions[`etcdserverpb.${service}`] as ServiceDefinition | undefined)?.[method];
  if (found === undefined) throw new Error(`wire.ts has no ${call}`);
  return found;
}

function unary(
  client: Client,
  call: string,
  { request, options }: { request: object; options: RpcOptions },
): Promise<RpcAnswer> {
  const { signal } = options;
  const method = methodOf(call);
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason as Error);
    const onAbort = (): void => {
      running.cancel();
      reject(signal?.reason as Error);
    };
    const finish = (error: ServiceError | null, value?: object): void => {
      signal?.removeEventListener('abort', onAbort);
      if (error === null) resolve({ status: 'ok', value });
      else resolve({ status: 'failed', code: error.code, details: error.details });
    };
    const grpc: GrpcOptions = { deadline: deadlineIn(options.timeoutMs) };
    const { path, requestSerialize, responseDeserialize } = method;
    const running = client.makeUnaryRequest(
      path,
      requestSerialize,
      responseDeserialize,
      request,
      new Metadata(),
      grpc,
      finish,
    );
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}

async function* stream(
  client: Client,
  call: string,
  from: { url: string; request: object; options: RpcOptions; clock: Clock },
): AsyncGenerator {
  const { url, options, clock } = from;
  options.signal?.throwIfAborted();
  const { path, requestSerialize, responseDeserialize } = methodOf(call);
  const running = client.makeServerStreamRequest(
    path,
    requestSerialize,
    responseDeserialize,
    from.request,
    new Metadata(),
    {},
  );
  const abort = (): void => void running.destroy(options.signal?.reason as Error);
  const idle = (): void =>
    void running.destroy(etcdErrors.SNAPSHOT_IDLE({ url, seconds: Math.round(options.timeoutMs / 1000) }));
  let alarm = clock.after(options.timeoutMs, idle);
  options.signal?.addEventListener('abort', abort, { once: true });
  try {
    for await (const message of running) {
      alarm[Symbol.dispose]();
      yield message;
      alarm = clock.after(options.timeoutMs, idle);
    }
  } finally {
    alarm[Symbol.dispose]();
    options.signal?.removeEventListener('abort', abort);
    running.cancel();
  }
}

/** gRPC measures deadlines itself, by the machine's clock. */
function deadlineIn(timeoutMs: number): Date {
  return new Date(new Date().getTime() + timeoutMs);
}
