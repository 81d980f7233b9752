// The process behind etcd-gate.ts: one HTTP/2 server per member, which passes gRPC calls on to the member and does to the
// answers what it is told on its standard input. It ends with its input.
import { connect, type ClientHttp2Session, createSecureServer, type ServerHttp2Stream } from 'node:http2';
import { createInterface } from 'node:readline';
import type { GatedCall, GateEvent, GateRule, GateSettings } from './etcd-gate.ts';

const rules = new Map<string, GateRule>();
const held = new Map<string, (() => void)[]>();

function tell(event: Omit<GateEvent, 'atMs'>): void {
  process.stdout.write(`${JSON.stringify({ ...event, atMs: Date.now() })}\n`);
}

function gatedCall(path: string): GatedCall | undefined {
  const name = path.split('/').at(-1);
  return name === 'MemberAdd' || name === 'MemberPromote' || name === 'MemberRemove' || name === 'MoveLeader'
    ? name
    : undefined;
}

function serve(settings: GateSettings, { name, address, port }: GateSettings['members'][number]): Promise<void> {
  const identity = { ca: settings.ca, cert: settings.certificate, key: settings.key };
  let upstream: ClientHttp2Session | undefined;
  const session = (): ClientHttp2Session => {
    if (upstream === undefined || upstream.closed || upstream.destroyed) {
      upstream = connect(`https://${address}:2379`, identity);
      upstream.on('error', () => {});
    }
    return upstream;
  };
  const server = createSecureServer({ ...identity, requestCert: true });
  server.on('sessionError', () => {});
  server.on('stream', (near, headers) => {
    near.on('error', () => {});
    pass(near as ServerHttp2Stream, headers as Record<string, string>, { session, name });
  });
  return new Promise((done) => server.listen(port, settings.listen, done));
}

interface Upstream {
  readonly session: () => ClientHttp2Session;
  readonly name: string;
}

function pass(near: ServerHttp2Stream, headers: Record<string, string>, { session, name }: Upstream): void {
  const call = gatedCall(headers[':path'] ?? '');
  const rule = call === undefined ? 'pass' : (rules.get(call) ?? 'pass');
  if (call !== undefined) tell({ call, member: name, kind: 'asked', grpcStatus: '' });
  if (call !== undefined && rule === 'refuse') {
    near.resume();
    near.respond(
      {
        ':status': 200,
        'content-type': 'application/grpc',
        'grpc-status': '14',
        'grpc-message': 'etcdserver: unhealthy cluster',
      },
      { endStream: true },
    );
    return tell({ call, member: name, kind: 'refused', grpcStatus: '14' });
  }
  const far = session().request(Object.fromEntries(Object.entries(headers).filter(([key]) => key !== ':authority')));
  // A member that is away looks from here as it would without the gate: the connection breaks.
  far.on('error', () => near.session?.destroy());
  near.on('close', () => far.close());
  near.pipe(far);
  const answer: { head: Record<string, string>; body: Buffer[]; tail: Record<string, string> } = {
    head: {},
    body: [],
    tail: {},
  };
  far.on('response', (head) => (answer.head = head as Record<string, string>));
  far.on('data', (chunk: Buffer) => answer.body.push(chunk));
  far.on('trailers', (tail) => (answer.tail = tail as Record<string, string>));
  far.on('end', () => {
    const grpcStatus = answer.tail['grpc-status'] ?? answer.head['grpc-status'] ?? '';
    const give = (): void => respond(near, answer);
    if (call === undefined) return give();
    const nowRule = rules.get(call) ?? 'pass';
    tell({ call, member: name, kind: 'answered', grpcStatus });
    if (grpcStatus !== '0' || nowRule === 'pass' || nowRule === 'refuse') return give();
    if (nowRule === 'hold-answer') held.set(call, [...(held.get(call) ?? []), give]);
  });
}

function respond(
  near: ServerHttp2Stream,
  { head, body, tail }: { head: Record<string, string>; body: readonly Buffer[]; tail: Record<string, string> },
): void {
  if (near.destroyed || near.closed) return;
  const fields = Object.fromEntries(Object.entries(head).filter(([key]) => key !== 'date'));
  near.on('wantTrailers', () => near.sendTrailers(tail));
  near.respond(fields, { waitForTrailers: true });
  for (const chunk of body) near.write(chunk);
  near.end();
}

let isSet = false;
const lines = createInterface({ input: process.stdin });
lines.on('line', (line) => {
  if (!isSet) {
    isSet = true;
    const settings = JSON.parse(line) as GateSettings;
    void Promise.all(settings.members.map((member) => serve(settings, member))).then(() =>
      process.stdout.write('ready\n'),
    );
    return;
  }
  const { call, rule } = JSON.parse(line) as { call: string; rule: GateRule };
  rules.set(call, rule);
  if (rule !== 'hold-answer') for (const give of held.get(call) ?? []) give();
  held.delete(call);
});
lines.on('close', () => process.kill(process.pid));
