// The first message of a TLS client (RFC 8446 §4.1.2), looked at before TLS begins: a client that has not sent all of
// it costs a socket and nothing else. The bytes stay in the socket, where TLS reads them.
import type { Socket } from 'node:net';

export type FirstMessage =
  | 'incomplete'
  /** A whole ClientHello. */
  | 'whole'
  /** No TLS handshake: TLS says what it is instead, from the same bytes. */
  | 'foreign'
  | 'too-long';

/** A ClientHello has less than 2 kB, with the key shares of hybrid algorithms too. */
const limitBytes = 16 * 1024;
const recordHeaderBytes = 5;
const messageHeaderBytes = 4;
const handshakeRecord = 22;
const clientHelloMessage = 1;
/** A client may send the message in several records; an honest one needs two at most. */
const recordsMax = 4;

export function judgeFirstMessage(bytes: Buffer): FirstMessage {
  // With fewer bytes TLS would wait for more, whatever they are.
  if (bytes.length < recordHeaderBytes + messageHeaderBytes) return 'incomplete';
  const isHello = bytes[0] === handshakeRecord && bytes[1] === 3 && bytes[recordHeaderBytes] === clientHelloMessage;
  if (!isHello || bytes.readUInt16BE(3) < messageHeaderBytes) return 'foreign';
  const wanted = messageHeaderBytes + bytes.readUIntBE(recordHeaderBytes + 1, 3);
  if (wanted > limitBytes) return 'too-long';
  let found = 0;
  for (let at = 0, records = 1; records <= recordsMax; records += 1) {
    if (bytes.length < at + recordHeaderBytes) return 'incomplete';
    if (bytes[at] !== handshakeRecord) return 'foreign';
    const length = bytes.readUInt16BE(at + 3);
    at += recordHeaderBytes + length;
    found += length;
    if (found > limitBytes) return 'too-long';
    if (bytes.length < at) return 'incomplete';
    if (found >= wanted) return 'whole';
  }
  return 'foreign';
}

/** Calls `done` once, when the first message can be judged, unless the connection ends before. */
export function awaitFirstMessage(socket: Socket, done: (judged: Exclude<FirstMessage, 'incomplete'>) => void): void {
  let gathered: Buffer = Buffer.alloc(0);
  const onReadable = (): void => {
    const chunk = socket.read() as Buffer | null;
    if (chunk === null) return;
    gathered = gathered.length === 0 ? chunk : Buffer.concat([gathered, chunk]);
    const judged = judgeFirstMessage(gathered);
    if (judged === 'incomplete') return;
    socket.off('readable', onReadable);
    socket.unshift(gathered);
    done(judged);
  };
  socket.on('readable', onReadable);
  // After a PROXY header the first message may be in the socket already, which then announces nothing.
  if (socket.readableLength > 0) onReadable();
}
