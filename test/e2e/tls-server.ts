// A small HTTPS server for tests, run in a network namespace of a cluster: `node tls-server.ts '<JSON settings>'`.
// Prints one line per request, `SOURCE PATH`; with `proxy` it takes the source from a PROXY v2 header, as a server behind
// the load balancer does, and refuses connections that have none.
import { createServer as createHttpsServer } from 'node:https';
import { createServer, type Socket } from 'node:net';

export interface TlsServerSettings {
  readonly address: string;
  readonly port: number;
  readonly certificate: string;
  readonly key: string;
  /** By path; what is not text is given as base64. */
  readonly answers: Readonly<Record<string, string | { readonly base64: string }>>;
  readonly proxy: boolean;
}

const settings = JSON.parse(process.argv[2] ?? '{}') as TlsServerSettings;
const sources = new Map<string, string>();

const https = createHttpsServer({ cert: settings.certificate, key: settings.key }, (request, response) => {
  const peer = `${request.socket.remoteAddress}:${request.socket.remotePort}`;
  const path = request.url ?? '';
  process.stdout.write(`${sources.get(peer) ?? request.socket.remoteAddress} ${path}\n`);
  const answer = settings.answers[path];
  const body = typeof answer === 'object' ? Buffer.from(answer.base64, 'base64') : answer;
  response.writeHead(body === undefined ? 404 : 200, { 'content-type': 'application/json' }).end(body ?? '');
});
https.on('tlsClientError', () => {});

if (settings.proxy) createServer(readProxyHeader).listen(settings.port, settings.address, ready);
else https.listen(settings.port, settings.address, ready);

function ready(): void {
  process.stdout.write('ready\n');
}

const signature = Buffer.from('0d0a0d0a000d0a515549540a', 'hex');

/** PROXY protocol v2: 12 bytes of signature, version and command, family, length, then the addresses. */
function readProxyHeader(socket: Socket): void {
  socket.on('error', () => {});
  socket.once('readable', () => {
    const head = socket.read(16) as Buffer | null;
    if (head === null || !head.subarray(0, 12).equals(signature)) return void socket.destroy();
    const rest = socket.read(head.readUInt16BE(14)) as Buffer | null;
    if (rest !== null && rest.length >= 12) {
      sources.set(`${socket.remoteAddress}:${socket.remotePort}`, [...rest.subarray(0, 4)].join('.'));
    }
    https.emit('connection', socket);
  });
}
