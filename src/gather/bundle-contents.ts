// The files of a bundle while it is filled. Whatever is put in passes the filter and the limits here, so no collector
// can leave them out; what could not be taken is kept with its reason.
import type { Clock } from '../host/clock.ts';
import { fileBytesMost } from './machine/inside-script.ts';
import { redactFile } from './redaction/redact-file.ts';

export interface Missed {
  /** What was wanted: a file, a machine, a kind of objects. */
  readonly what: string;
  readonly reason: string;
}

export interface BundleContents {
  /** Drops what is empty, and what would make the bundle larger than it may be. */
  readonly add: (path: string, content: Uint8Array | string) => void;
  readonly miss: (what: string, reason: string) => void;
  /** A line of gather.log. */
  readonly note: (text: string) => void;
  /** Path → text; sorted. */
  readonly files: () => ReadonlyMap<string, string>;
  readonly missed: () => readonly Missed[];
  readonly log: () => string;
}

export interface BundleLimits {
  readonly fileBytes: number;
  /** Of all files together, before they are compressed. */
  readonly bundleBytes: number;
  readonly files: number;
}

const limits: BundleLimits = { fileBytes: fileBytesMost, bundleBytes: 192 * 1024 ** 2, files: 5_000 };

const plainPath = /^(?!.*(?:^|\/)\.{1,2}(?:\/|$))[\w@%+=:,.][\w@%+=:,./-]{0,240}$/;

export function bundleContents(clock: Pick<Clock, 'now'>, most: BundleLimits = limits): BundleContents {
  const files = new Map<string, string>();
  const missed: Missed[] = [];
  const lines: string[] = [];
  let bytes = 0;
  const note = (text: string): void => {
    lines.push(`${clock.now().toISOString()} ${text}`);
  };
  const miss = (what: string, reason: string): void => {
    missed.push({ what, reason });
    note(`not taken: ${what}: ${reason}`);
  };
  return {
    add: (path, content) => {
      if (content.length === 0) return;
      if (!plainPath.test(path)) return miss(JSON.stringify(path), 'its name is no plain path');
      if (files.size >= most.files || bytes >= most.bundleBytes) return miss(path, 'the bundle is full');
      const text = redactFile(path, lastText(content, most.fileBytes));
      bytes += text.length;
      files.set(path, text);
    },
    miss,
    note,
    files: () => new Map([...files].sort(([a], [b]) => (a < b ? -1 : 1))),
    missed: () => missed,
    log: () => `${lines.join('\n')}\n`,
  };
}

/** Of a longer text its end, from the beginning of a line on: half a line of a key would not be known for one. */
function lastText(content: Uint8Array | string, most: number): string {
  const bytes = Buffer.from(content);
  // A machine sends no more than the most: what is as long was cut there.
  if (bytes.length < most) return bytes.toString('utf8');
  const end = bytes.subarray(-most).toString('utf8');
  return `[the beginning is left out]\n${end.slice(end.indexOf('\n') + 1)}`;
}
