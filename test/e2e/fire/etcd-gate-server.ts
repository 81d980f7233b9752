// The process behind etcd-gate.ts: one HTTP/2 server per member, which passes gRPC calls on to the member and does to the
// answers what it is told on its standard input. It ends with its input.
import { type ClientHttp2Session, connect, createSecureServer, type ServerHttp2Stream } from 'node:http2';
import { createInterface } from 'node:readline';
import type { GatedCall, GateEvent, GateRule, GateSettings } from './etcd-gate.ts';

type Headers = Readonly<Record<string, string>>;

interface Answer {
  readonly head: Headers;
  readonly body: Buffer;
  readonly tail: Headers;
}

const rules = new Map<GatedCall, GateRule>();
const held = new Map<GatedCall, (() => void)[]>();
const unhealthy: Answer = {
  head: { ':status': '200', 'content-type': 'application/grpc' },
  body: Buffer.alloc(0),
  tail: { 'grpc-status': '14', 'grpc-message': 'etcdserver: unhealthy cluster' },
};

function tell(event: Omit<GateEvent, 'atMs'>): void {
  process.stdout.write(`${JSON.stringify({ ...event, atMs: Date.now() })}\n`);
}

function gatedCall(path: string): GatedCall | undefined {
  const name = path.split('/').at(-1);
  return name === 'MemberAdd' || name === 'MemberPromote' || name === 'MemberRemove' || name === 'MoveLeader'
    ? name
    : undefined;
}

/** The first field of the message: a URL of an addition, else the number of a member. Five bytes come before it. */
function subjectOf(message: Buffer): string {
  const field = message.subarray(5);
  if (field[0] === 0x0a) return field.toString('utf8', 2, 2 + (field[1] ?? 0));
  let id = 0n;
  for (let at = 1; at < field.length; at += 1) {
    id |= BigInt((field[at] ?? 0) & 0x7f) << BigInt(7 * (at - 1));
    if (((field[at] ?? 0) & 0x80) === 0) break;
  }
  return id.toString(16);
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
  server.on('stream', (stream, headers) => {
    const near = stream as ServerHttp2Stream;
    const body: Buffer[] = [];
    near.on('error', () => {});
    near.on('data', (chunk: Buffer) => body.push(chunk));
    const source = near.session?.socket.remoteAddress;
    const from = settings.members.find((member) => source?.endsWith(member.address))?.name ?? '';
    near.on('end', () => pass(near, { headers: headers as Headers, body: Buffer.concat(body), name, from, session }));
  });
  return new Promise((done) => server.listen(port, settings.listen, done));
}

interface Request {
  readonly headers: Headers;
  readonly body: Buffer;
  readonly from: string;
  /** Of the member that is asked. */
  readonly name: string;
  readonly session: () => ClientHttp2Session;
}

function pass(near: ServerHttp2Stream, request: Request): void {
  const call = gatedCall(request.headers[':path'] ?? '');
  if (call === undefined) return forward(near, request, (answer) => respond(near, answer));
  const event = { call, from: request.from, member: request.name, about: subjectOf(request.body) };
  tell({ ...event, kind: 'asked', grpcStatus: '' });
  if (rules.get(call) === 'refuse') {
    tell({ ...event, kind: 'refused', grpcStatus: '14' });
    return respond(near, unhealthy);
  }
  return forward(near, request, (answer) => {
    const grpcStatus = answer.tail['grpc-status'] ?? answer.head['grpc-status'] ?? '';
    const rule = rules.get(call) ?? 'pass';
    tell({ ...event, kind: 'answered', grpcStatus });
    if (grpcStatus !== '0' || rule === 'pass' || rule === 'refuse') return respond(near, answer);
    if (rule === 'pass-one') {
      rules.set(call, 'refuse');
      return respond(near, answer);
    }
    if (rule === 'lose-answer') rules.set(call, 'pass');
    else held.set(call, [...(held.get(call) ?? []), () => respond(near, answer)]);
  });
}

function forward(near: ServerHttp2Stream, { headers, body, session }: Request, done: (answer: Answer) => void): void {
  const far = session().request(Object.fromEntries(Object.entries(headers).filter(([key]) => key !== ':authority')));
  let head: Headers = {};
  let tail: Headers = {};
  const chunks: Buffer[] = [];
  // A member that is away looks from here as it would without the gate: the connection breaks.
  far.on('error', () => near.session?.destroy());
  near.on('close', () => far.close());
  far.on('response', (fields) => (head = fields as unknown as Headers));
  far.on('data', (chunk: Buffer) => chunks.push(chunk));
  far.on('trailers', (fields) => (tail = fields as unknown as Headers));
  far.on('end', () => done({ head, body: Buffer.concat(chunks), tail }));
  far.end(body);
}

function respond(near: ServerHttp2Stream, { head, body, tail }: Answer): void {
  if (near.destroyed || near.closed) return;
  near.on('wantTrailers', () => near.sendTrailers(tail));
  near.respond(Object.fromEntries(Object.entries(head).filter(([key]) => key !== 'date')), { waitForTrailers: true });
  near.end(body);
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
  const { call, rule } = JSON.parse(line) as { call: GatedCall; rule: GateRule };
  rules.set(call, rule);
  if (rule !== 'hold-answer') for (const give of held.get(call) ?? []) give();
  held.delete(call);
});
lines.on('close', () => process.kill(process.pid));
