// Tokens that were served and have not ended, in the order in which they were issued, which is the order in which they
// end. One block of bytes and not an object each: a loop that fetches leaves hundreds of thousands behind, and what the
// garbage collector does not see it neither copies nor marks. Thirty-two bytes a token: id, pool, end, secret.
import { idLength, noToken, tokenId } from './bootstrap-token.ts';

export interface KeysRedeemed {
  readonly atMs: number;
  readonly redemption: string;
}

/** As much of a token as is asked for while serving. */
export interface KnownToken {
  readonly token: string;
  readonly pool: string;
  readonly expiresAtMs: number;
  readonly keysGiven: KeysRedeemed | undefined;
}

const entryBytes = 32;
const entryWords = entryBytes / 4;
const entryDoubles = entryBytes / 8;
const secretAt = 16;
const secretLength = noToken.length - idLength - 1;
/** No id: six letters of thirty-six make a smaller number. */
const removed = 0xff_ff_ff_ff;
const notAnId = -1;
const fewest = 64;

/** Views of one block, and for each id the place where its entry begins to be looked for. */
interface Block {
  readonly capacity: number;
  readonly words: Uint32Array;
  readonly doubles: Float64Array;
  readonly bytes: Buffer;
  /** Entry number plus one; 0 is free. Never more than half full, because every entry is in it at most once. */
  readonly places: Uint32Array;
}

function block(capacity: number): Block {
  const memory = new ArrayBuffer(capacity * entryBytes);
  return {
    capacity,
    words: new Uint32Array(memory),
    doubles: new Float64Array(memory),
    bytes: Buffer.from(memory),
    places: new Uint32Array(capacity * 2),
  };
}

export class OutstandingTokens {
  #block = block(fewest);
  /** Entries from `#first` up to `#end`; those before have ended, those after are not used yet. */
  #first = 0;
  #end = 0;
  #size = 0;
  readonly #pools: string[] = [];
  readonly #keysGiven = new Map<string, KeysRedeemed>();

  get size(): number {
    return this.#size;
  }

  /** Of memory, as large as it has become. */
  get bytes(): number {
    return this.#block.bytes.length + this.#block.places.byteLength;
  }

  /** False, and nothing is done: its id is taken, or it is no token and nobody could ever show it. */
  add({ token, pool, expiresAtMs, keysGiven }: KnownToken): boolean {
    const number = idNumber(token);
    if (number === notAnId || token.length !== noToken.length) return false;
    if (this.#end === this.#block.capacity) this.#moveToNewBlock();
    const { words, doubles, bytes } = this.#block;
    if (!this.#place(number, this.#end)) return false;
    const entry = this.#end++;
    words[entry * entryWords] = number;
    words[entry * entryWords + 1] = this.#poolNumber(pool);
    doubles[entry * entryDoubles + 1] = expiresAtMs;
    const at = entry * entryBytes + secretAt;
    for (let index = 0; index < secretLength; index += 1) bytes[at + index] = token.charCodeAt(idLength + 1 + index);
    this.#size += 1;
    if (keysGiven !== undefined) this.#keysGiven.set(tokenId(token), keysGiven);
    return true;
  }

  get(id: string): KnownToken | undefined {
    const entry = this.#find(idNumber(id));
    if (entry === undefined) return undefined;
    const { words, doubles, bytes } = this.#block;
    const at = entry * entryBytes + secretAt;
    return {
      token: `${id}.${bytes.toString('latin1', at, at + secretLength)}`,
      pool: this.#pools[words[entry * entryWords + 1] ?? 0] ?? '',
      expiresAtMs: doubles[entry * entryDoubles + 1] ?? 0,
      keysGiven: this.#keysGiven.get(id),
    };
  }

  /** Undefined: it turned out that they were not given. */
  setKeysGiven(id: string, keysGiven: KeysRedeemed | undefined): void {
    if (keysGiven !== undefined && this.#find(idNumber(id)) !== undefined) this.#keysGiven.set(id, keysGiven);
    else this.#keysGiven.delete(id);
  }

  delete(id: string): void {
    const entry = this.#find(idNumber(id));
    if (entry !== undefined) this.#remove(entry);
  }

  /** Looks no further than the first that lives. */
  forgetExpired(nowMs: number): void {
    const { words, doubles } = this.#block;
    for (; this.#first < this.#end; this.#first += 1) {
      if (words[this.#first * entryWords] === removed) continue;
      if ((doubles[this.#first * entryDoubles + 1] ?? 0) > nowMs) return;
      this.#remove(this.#first);
    }
  }

  #remove(entry: number): void {
    const { words, bytes } = this.#block;
    if (this.#keysGiven.size > 0) this.#keysGiven.delete(idText(words[entry * entryWords] ?? 0));
    bytes.fill(0, entry * entryBytes, (entry + 1) * entryBytes);
    words[entry * entryWords] = removed;
    this.#size -= 1;
  }

  #find(number: number): number | undefined {
    const { words, places } = this.#block;
    if (number === notAnId) return undefined;
    for (let at = firstPlace(number, places.length); ; at = (at + 1) & (places.length - 1)) {
      const entry = (places[at] ?? 0) - 1;
      if (entry < 0) return undefined;
      if (words[entry * entryWords] === number) return entry;
    }
  }

  /** False: an entry with this number is there. */
  #place(number: number, entry: number): boolean {
    const { words, places } = this.#block;
    let at = firstPlace(number, places.length);
    for (let other = places[at] ?? 0; other !== 0; other = places[at] ?? 0) {
      if (words[(other - 1) * entryWords] === number) return false;
      at = (at + 1) & (places.length - 1);
    }
    places[at] = entry + 1;
    return true;
  }

  /** Twice as large as what lives needs: then the next move is as far away as this one was dear. */
  #moveToNewBlock(): void {
    const old = this.#block;
    let capacity = fewest;
    while (capacity < this.#size * 2) capacity *= 2;
    this.#block = block(capacity);
    let end = 0;
    for (let entry = this.#first; entry < this.#end; entry += 1) {
      const number = old.words[entry * entryWords] ?? removed;
      if (number === removed) continue;
      old.bytes.copy(this.#block.bytes, end * entryBytes, entry * entryBytes, (entry + 1) * entryBytes);
      this.#place(number, end);
      end += 1;
    }
    old.bytes.fill(0);
    this.#first = 0;
    this.#end = end;
  }

  #poolNumber(pool: string): number {
    const found = this.#pools.indexOf(pool);
    return found < 0 ? this.#pools.push(pool) - 1 : found;
  }
}

/** Of an id, or of the token that begins with it. */
function idNumber(text: string): number {
  if (text.length < idLength) return notAnId;
  let number = 0;
  for (let at = 0; at < idLength; at += 1) {
    const code = text.charCodeAt(at);
    const isLetter = code >= 0x61 && code <= 0x7a;
    if (!isLetter && !(code >= 0x30 && code <= 0x39)) return notAnId;
    number = number * 36 + (isLetter ? code - 0x57 : code - 0x30);
  }
  return number;
}

function idText(number: number): string {
  return number.toString(36).padStart(idLength, '0');
}

/** Spreads the numbers; `count` is a power of two. */
function firstPlace(number: number, count: number): number {
  return (Math.imul(number, 0x9e_37_79_b1) >>> 7) & (count - 1);
}
