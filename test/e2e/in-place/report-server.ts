// A progress API of somebody else inside a cluster's network: `node report-server.ts ADDRESS CERTIFICATE KEY TOKEN` prints its
// URL, then a line for each report that it takes. It knows the protocol and shares no code with ours.
import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';

const [address = '', certificate = '', key = '', token = ''] = process.argv.slice(2);
/** Attempt → the number of its last report. */
const last = new Map<string, number>();

const server = createServer({ cert: readFileSync(certificate), key: readFileSync(key) }, (request, response) => {
  let text = '';
  request.on('data', (chunk: Buffer) => (text += chunk.toString('utf8')));
  request.on('end', () => {
    const answer = (status: number, ackSeq: number): void => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify({ ackSeq }));
    };
    const attempt = /\/attempts\/([^/]+)\/events$/.exec(request.url ?? '')?.[1] ?? '';
    const known = last.get(attempt) ?? 0;
    if (request.headers.authorization !== `Bearer ${token}`) return answer(401, 0);
    const { seq, phase, step } = JSON.parse(text) as { seq: number; phase: string; step: string };
    if (seq > known + 1) return answer(409, known);
    if (seq === known + 1) {
      last.set(attempt, seq);
      process.stdout.write(`${attempt} ${phase} ${step}\n`);
    }
    answer(202, Math.max(known, seq));
  });
});
server.listen(0, address, () => {
  process.stdout.write(`https://${address}:${(server.address() as AddressInfo).port}/theirs\n`);
});
