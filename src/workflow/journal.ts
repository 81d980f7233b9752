// The append-only journal of a workflow: one JSON record per line, each line chained to the line before by a checksum.
// `kill -9` at any byte loses at most the line that was being written; a changed line before the end is an error.
// A record is a fact about the past ("this was produced from that"), never a statement about the present.
import { createHash } from 'node:crypto';
import type { AppendHandle, Files } from '../host/files.ts';
import { workflowErrors } from './errors.ts';

export interface JournalRecord {
  readonly kind: string;
  readonly at: string;
  readonly [field: string]: unknown;
}

export interface Journal extends AsyncDisposable {
  readonly path: string;
  readonly records: readonly JournalRecord[];
  /** Resolves when the record is on the disk. The first record creates the file, so an idle run writes nothing. */
  append(record: JournalRecord): Promise<void>;
}

const checksumLength = 16;

export async function openJournal(files: Files, path: string): Promise<Journal> {
  const content = Buffer.from((await files.readIfPresent(path)) ?? new Uint8Array());
  const { records, chain, goodBytes } = parseJournal(path, content);
  if (goodBytes < content.length) await files.truncate(path, goodBytes);
  let link = chain;
  let handle: AppendHandle | undefined;
  const kept = [...records];
  const write = async (record: JournalRecord): Promise<void> => {
    handle ??= await files.openAppend(path, { mode: 0o600 });
    const json = JSON.stringify(record);
    const next = nextLink(link, json);
    await handle.append(`${next} ${json}\n`);
    link = next;
    kept.push(record);
  };
  // Lines are written one at a time, also when two workflows share the journal: each is chained to the line before.
  let last: Promise<void> = Promise.resolve();
  return {
    path,
    records: kept,
    append: (record) => {
      const written = last.then(() => write(record));
      last = written.catch(() => {});
      return written;
    },
    [Symbol.asyncDispose]: async () => {
      await last;
      await handle?.[Symbol.asyncDispose]();
    },
  };
}

/** For readers. It repairs nothing, so it does not disturb a run that writes at the same time. */
export async function readJournal(files: Files, path: string): Promise<readonly JournalRecord[]> {
  return parseJournal(path, Buffer.from((await files.readIfPresent(path)) ?? new Uint8Array())).records;
}

function nextLink(previous: string, json: string): string {
  return createHash('sha256').update(previous).update(json).digest('hex').slice(0, checksumLength);
}

interface ParsedJournal {
  readonly records: readonly JournalRecord[];
  readonly chain: string;
  readonly goodBytes: number;
}

function parseJournal(path: string, content: Buffer): ParsedJournal {
  const records: JournalRecord[] = [];
  let chain = '';
  let start = 0;
  while (start < content.length) {
    const end = content.indexOf(0x0a, start);
    // A kill during a write leaves a last line without a newline. That line is dropped.
    if (end === -1) break;
    const line = content.toString('utf8', start, end);
    const json = line.slice(checksumLength + 1);
    const link = nextLink(chain, json);
    if (line.slice(0, checksumLength) !== link || line[checksumLength] !== ' ') {
      throw workflowErrors.JOURNAL_CORRUPT({ path, line: records.length + 1, reason: 'does not match its checksum' });
    }
    records.push(JSON.parse(json) as JournalRecord);
    chain = link;
    start = end + 1;
  }
  return { records, chain, goodBytes: start };
}
