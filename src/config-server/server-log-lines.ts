// The log of a server on stderr: one line of JSON per entry, in order, written a few at a time. Nothing that a client
// chose gets into it without having been searched for secrets.
import type { Host } from '../host/host.ts';
import type { Log, LogEntry } from './server-log.ts';
import { redact } from '../host/redact.ts';

/** Lines of this time are written together; what is still waiting when the process ends is written then. */
const gatherMs = 20;

const levels = ['debug', 'info', 'warn', 'error'];

export interface ServerLogOptions {
  /** Entries below it are left out. */
  readonly level: LogEntry['level'];
  /** Bytes may be used for something else when it returns. */
  readonly write: (lines: string | Uint8Array) => void;
}

export interface ServerLog extends Disposable {
  readonly log: Log;
}

/** Lines wait as bytes in one place: texts that wait are what the garbage collector has to carry along. */
const roomBytes = 64 * 1024;

export function openServerLog(host: Pick<Host, 'clock'>, { level, write }: ServerLogOptions): ServerLog {
  const room = Buffer.allocUnsafe(roomBytes);
  let filled = 0;
  let timer: Disposable | undefined;
  /** How the last line began; most begin like the one before. */
  let last: { readonly ms: number; readonly fields: object; readonly start: Buffer } | undefined;
  const flush = (): void => {
    timer?.[Symbol.dispose]();
    timer = undefined;
    if (filled > 0) write(room.subarray(0, filled));
    filled = 0;
  };
  const least = levels.indexOf(level);
  /** Of fields that come again, the text that needs no second look. */
  const texts = new WeakMap<object, string>();
  const textOf = ({ level, text, fields }: LogEntry): string => {
    const known = texts.get(fields);
    if (known !== undefined) return known;
    const made = redact(JSON.stringify({ level, text, ...fields })).slice(1, -1);
    texts.set(fields, made);
    return made;
  };
  const log: Log = (entry) => {
    if (levels.indexOf(entry.level) < least) return;
    const ms = host.clock.nowMs();
    if (last?.ms !== ms || last.fields !== entry.fields) {
      const start = Buffer.from(`{"time":"${new Date(ms).toISOString()}",${textOf(entry)}`);
      last = { ms, fields: entry.fields, start };
    }
    const { start } = last;
    const end = entry.own === undefined ? '}\n' : ownText(entry.own);
    // No character takes more than three bytes.
    if (filled + start.length + end.length * 3 > roomBytes) flush();
    if (start.length + end.length * 3 > roomBytes) return write(`${start.toString()}${end}`);
    filled += start.copy(room, filled);
    filled += room.write(end, filled);
    timer ??= host.clock.after(gatherMs, flush);
  };
  return { log, [Symbol.dispose]: flush };
}

/** By hand, because there are thousands in a second, and nothing in it needs escaping. */
function ownText(own: NonNullable<LogEntry['own']>): string {
  let text = '';
  for (const name in own) {
    const value = own[name];
    text += typeof value === 'number' ? `,"${name}":${value}` : `,"${name}":"${value}"`;
  }
  return `${text}}\n`;
}
