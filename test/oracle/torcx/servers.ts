// Real HTTPS servers that can misbehave: the bucket and the API server. Each keeps a log of what it was asked.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';

/** What one request gets; a path holds a list and the last entry stays. */
export type Reply =
  | { readonly body: string | Uint8Array; readonly status?: number; readonly headers?: Record<string, string> }
  | { readonly fault: 'reset' | 'hang' }
  /** Sends half of the body, then cuts the connection, or says nothing more. */
  | { readonly fault: 'truncate' | 'stall'; readonly body: string | Uint8Array };

export interface FaultyServer extends AsyncDisposable {
  readonly url: string;
  readonly requests: { readonly method: string; readonly path: string; readonly body: string; readonly peer: string }[];
  /** Path → replies, in order. Unknown paths get 404. */
  replies: Map<string, Reply[]>;
  paths(): readonly string[];
}

export interface Identity {
  readonly cert: string;
  readonly key: string;
  readonly ca: string;
}

export async function startServer(identity: Identity, asksForClientCertificate = false): Promise<FaultyServer> {
  const server = createServer({
    cert: identity.cert,
    key: identity.key,
    ca: identity.ca,
    requestCert: asksForClientCertificate,
    rejectUnauthorized: false,
  });
  const faulty: FaultyServer = {
    url: '',
    requests: [],
    replies: new Map(),
    paths: () => faulty.requests.map(({ path }) => path),
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  // A TLS socket cannot send a reset; the TCP socket beneath can.
  const raw = new Map<number, Socket>();
  server.on('connection', (socket) => {
    const port = socket.remotePort ?? 0;
    raw.set(port, socket);
    socket.on('close', () => raw.delete(port));
  });
  const reset = (request: IncomingMessage): void => void raw.get(request.socket.remotePort ?? 0)?.resetAndDestroy();
  server.on('request', (request, response) => void answer(faulty, { request, response, reset: () => reset(request) }));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return Object.assign(faulty, { url: `https://127.0.0.1:${(server.address() as AddressInfo).port}` });
}

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly reset: () => void;
}

async function answer(server: FaultyServer, { request, response, reset }: Exchange): Promise<void> {
  let body = '';
  for await (const chunk of request) body += String(chunk);
  const path = request.url ?? '';
  const socket = request.socket as unknown as { getPeerCertificate?: () => { subject?: { CN?: string } } };
  const peer = socket.getPeerCertificate?.().subject?.CN ?? '';
  server.requests.push({ method: request.method ?? '', path, body, peer });
  const queue = server.replies.get(path) ?? [];
  const reply = queue.length > 1 ? queue.shift() : queue[0];
  if (reply === undefined) response.writeHead(404).end('not here\n');
  else if (!('fault' in reply)) response.writeHead(reply.status ?? 200, reply.headers).end(reply.body);
  else if (reply.fault === 'reset') reset();
  else if ('body' in reply) {
    const content = Buffer.from(reply.body);
    response.writeHead(200, { 'content-length': content.length }).write(content.subarray(0, content.length / 2));
    if (reply.fault === 'truncate') setTimeout(() => request.socket.destroy(), 20);
  }
}
