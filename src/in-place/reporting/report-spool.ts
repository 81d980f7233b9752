// The reports of an attempt on the disk: a file of JSON lines that only grows, and beside it how far each server is. A
// line that was cut off by a crash is removed. A disk that takes no line keeps no report back: it stays in memory.
import { z } from 'zod';
import { type ProgressEvent, progressEventSchema } from '../../contract/in-place.ts';
import { FirstlightError } from '../../errors/firstlight-error.ts';
import type { AppendHandle } from '../../host/files.ts';
import type { Host } from '../../host/host.ts';
import { jsonIfValid } from '../../host/json-if-valid.ts';

const confirmedSchema = z.record(z.string(), z.object({ local: z.int().min(0), remote: z.int().min(0) }));

/**
 * How far a server is: `local` is the number of the last report here that it has, `remote` its own number of that
 * report. They differ where reports were lost, or were made by somebody else under the same token.
 */
export interface ConfirmedReports {
  readonly local: number;
  readonly remote: number;
}

export interface SpoolOptions {
  readonly folder: string;
  /** Numbers begin after it. */
  readonly lastSeq: number;
}

export async function openSpool(host: Host, options: SpoolOptions): Promise<ReportSpool> {
  const { files } = host;
  const paths = { events: `${options.folder}/events`, confirmed: `${options.folder}/confirmed.json` };
  try {
    await files.makeFolder(options.folder, { mode: 0o700 });
    const content = Buffer.from((await files.readIfPresent(paths.events)) ?? '');
    const sizeBytes = content.lastIndexOf(0x0a) + 1;
    if (sizeBytes < content.length) await files.truncate(paths.events, sizeBytes);
    const events = readEvents(content.subarray(0, sizeBytes).toString('utf8'));
    const confirmed = confirmedSchema.safeParse(jsonIfValid(text(await files.readIfPresent(paths.confirmed)))).data;
    const handle = await files.openAppend(paths.events, { mode: 0o600 });
    return new ReportSpool(host, { ...options, paths, events, confirmed: confirmed ?? {}, handle });
  } catch (error) {
    if (!(error instanceof FirstlightError)) throw error;
    return new ReportSpool(host, { ...options, paths, events: [], confirmed: {}, handle: undefined });
  }
}

interface SpoolParts extends SpoolOptions {
  readonly paths: { readonly events: string; readonly confirmed: string };
  readonly events: readonly ProgressEvent[];
  readonly confirmed: Readonly<Record<string, ConfirmedReports>>;
  /** Undefined where the disk cannot be used. */
  readonly handle: AppendHandle | undefined;
}

export class ReportSpool implements AsyncDisposable {
  readonly #host: Host;
  readonly #parts: SpoolParts;
  readonly #events: ProgressEvent[];
  readonly #confirmed: Record<string, ConfirmedReports>;
  /** The last number that was there when it was opened: a server may have seen everything up to it. */
  readonly lastAtOpen: number;
  #last: number;
  #isTorn = false;
  /** Writes follow each other. */
  #writing: Promise<unknown> = Promise.resolve();

  constructor(host: Host, parts: SpoolParts) {
    this.#host = host;
    this.#parts = parts;
    this.#events = [...parts.events];
    this.#confirmed = { ...parts.confirmed };
    this.lastAtOpen = parts.events.at(-1)?.seq ?? 0;
    this.#last = Math.max(parts.lastSeq, this.lastAtOpen);
  }

  /** Resolves when the report is on the disk, or the disk has refused it. */
  async add(event: Omit<ProgressEvent, 'seq'>): Promise<ProgressEvent> {
    this.#last += 1;
    const whole: ProgressEvent = { ...event, seq: this.#last };
    await this.#write(() => this.#append(JSON.stringify(whole)));
    this.#events.push(whole);
    return whole;
  }

  /** After a line that may have been written in part, a new one begins: half a line is skipped when it is read. */
  async #append(line: string): Promise<void> {
    const start = this.#isTorn ? '\n' : '';
    this.#isTorn = true;
    await this.#parts.handle?.append(`${start}${line}\n`);
    this.#isTorn = false;
  }

  newest(): ProgressEvent | undefined {
    return this.#events.at(-1);
  }

  /** The first reports with larger numbers, at most so many. */
  after(seq: number, countMax: number): readonly ProgressEvent[] {
    const start = this.#events.findIndex((event) => event.seq > seq);
    return start < 0 ? [] : this.#events.slice(start, start + countMax);
  }

  confirmedBy(sink: string): ConfirmedReports {
    const { lastSeq } = this.#parts;
    return this.#confirmed[sink] ?? { local: lastSeq, remote: lastSeq };
  }

  /** Not synced: a server that is asked again answers the same. */
  async confirm(sink: string, confirmed: ConfirmedReports): Promise<void> {
    this.#confirmed[sink] = confirmed;
    const { paths, handle } = this.#parts;
    const content = `${JSON.stringify(this.#confirmed)}\n`;
    await this.#write(async () => {
      if (handle !== undefined)
        await this.#host.files.write(paths.confirmed, content, { mode: 0o600, isDurable: false });
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#writing;
    await this.#parts.handle?.[Symbol.asyncDispose]();
  }

  #write(write: () => Promise<unknown>): Promise<unknown> {
    const written = this.#writing.then(write).catch((error: unknown) => {
      if (!(error instanceof FirstlightError)) throw error;
    });
    this.#writing = written;
    return written;
  }
}

function readEvents(content: string): readonly ProgressEvent[] {
  const events = content.split('\n').flatMap((line) => progressEventSchema.safeParse(jsonIfValid(line)).data ?? []);
  return events.toSorted((one, other) => one.seq - other.seq);
}

function text(bytes: Uint8Array | undefined): string {
  return Buffer.from(bytes ?? '').toString('utf8');
}
