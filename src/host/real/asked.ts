// What a client asks, as a value, from what Node has read. Who asks the same again on the same connection gets the same
// value: its headers are not read a second time, and whoever answers may keep what follows from it. Compared is only what
// one client itself has sent, so the time this takes tells nobody anything.
import type { IncomingMessage } from 'node:http';
import type { Peer, ServerRequest } from '../https-server.ts';

export interface ReceivedRequest {
  readonly request: ServerRequest;
  /** It announces a body. */
  readonly hasBody: boolean;
  /** Names and values in turns, as they were sent; none where they are too much to keep. */
  readonly kept: readonly string[];
}

/** A connection costs no more than this for being remembered. */
const mostKept = { strings: 32, characters: 2_048 };

export function asked(message: IncomingMessage, peer: Peer, last: ReceivedRequest | undefined): ReceivedRequest {
  const { rawHeaders, method = '', url: target = '' } = message;
  if (last !== undefined && isSame(last, { rawHeaders, method, target, peer })) return last;
  const headers = message.headers as Readonly<Record<string, string>>;
  const hasBody = headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;
  return { request: { method, target, headers, peer }, hasBody, kept: isLittle(rawHeaders, target) ? rawHeaders : [] };
}

export function isKept({ kept }: ReceivedRequest): boolean {
  return kept.length > 0;
}

interface Again {
  readonly rawHeaders: readonly string[];
  readonly method: string;
  readonly target: string;
  readonly peer: Peer;
}

function isSame({ request, kept }: ReceivedRequest, { rawHeaders, method, target, peer }: Again): boolean {
  if (kept.length === 0 || kept.length !== rawHeaders.length) return false;
  if (request.target !== target || request.method !== method || request.peer !== peer) return false;
  for (let index = 0; index < kept.length; index += 1) if (kept[index] !== rawHeaders[index]) return false;
  return true;
}

function isLittle(rawHeaders: readonly string[], target: string): boolean {
  let characters = target.length;
  for (const text of rawHeaders) characters += text.length;
  return rawHeaders.length <= mostKept.strings && characters <= mostKept.characters;
}
