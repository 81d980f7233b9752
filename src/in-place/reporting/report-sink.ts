// One server that reports go to: sends what it has not confirmed, one after the other, and again until it is confirmed.
// What the server lacks is sent from there on; a number that somebody else has used is left to him.
import { z } from 'zod';
import {
  type InPlacePhase,
  type ProgressAnswer,
  type ProgressCommand,
  type ProgressEvent,
  progressAnswerSchema,
  waitHeaders,
} from '../../contract/in-place.ts';
import { FirstlightError } from '../../errors/firstlight-error.ts';
import type { Host } from '../../host/host.ts';
import { jsonIfValid } from '../../host/json-if-valid.ts';
import type { HttpAnswer } from '../../host/network.ts';
import { Doorbell } from '../../workflow/doorbell.ts';
import { pause } from '../../workflow/pause.ts';
import { pauseBefore } from '../../workflow/retry.ts';
import type { ConfirmedReports, ReportSpool } from './report-spool.ts';

export type SinkName = 'cluster' | 'foreign';

export interface SinkOptions {
  readonly name: SinkName;
  /** Where events are posted. */
  readonly url: string;
  readonly token: string;
  readonly ca?: string;
  readonly proxy?: string;
  /** It takes a list of reports too; otherwise one by one. */
  readonly takesLists: boolean;
  readonly onTrouble: (problem: string) => void;
}

export interface SinkState {
  readonly name: SinkName;
  readonly url: string;
  /** It has confirmed every report. */
  readonly isDone: boolean;
  /** Another attempt has taken the place of this one; it takes no more reports. */
  readonly isSuperseded: boolean;
  /** Why it does not take reports; undefined while it does, or has not been asked. */
  readonly trouble: string | undefined;
}

/** What it said to a report. */
export interface SinkAdvice {
  /** The report here that it answered to. */
  readonly seq: number;
  readonly command: ProgressCommand;
  readonly phase: InPlacePhase | undefined;
}

const pauses = { attempts: 0, firstPauseMs: 250, maxPauseMs: 5_000 };
const requestMs = 10_000;
/** So many fit into a request, whatever is in them. */
const listMax = 8;
const answerBytesMax = 64 * 1024;
/** The server will never take this report, whatever its number is. */
const refusedForEver = [400, 413, 422];
const gapSchema = z.object({ ackSeq: z.int().min(0) });

export class ReportSink implements AsyncDisposable {
  readonly #host: Host;
  readonly #spool: ReportSpool;
  readonly #options: SinkOptions;
  readonly #end = new AbortController();
  /** Rung when there may be something to send, or when it should be tried at once. */
  readonly #work = new Doorbell();
  /** Rung when something was confirmed, or went wrong. */
  readonly #news = new Doorbell();
  readonly #running: Promise<void>;
  #confirmed: ConfirmedReports;
  /** The largest number of the server's that a report of this spool may have been sent with. */
  #sentMax: number;
  /** After a list was not simply taken, until everything is confirmed: the answers to single ones tell more. */
  #isOneByOne = false;
  #isSuperseded = false;
  #trouble: string | undefined;
  #advice: SinkAdvice | undefined;

  constructor(host: Host, spool: ReportSpool, options: SinkOptions) {
    this.#host = host;
    this.#spool = spool;
    this.#options = options;
    this.#confirmed = spool.confirmedBy(options.name);
    this.#sentMax = this.#confirmed.remote + Math.max(0, spool.lastAtOpen - this.#confirmed.local);
    // Whatever goes wrong in here ends the reports to this server, and never the attempt.
    this.#running = this.#run().catch((error: unknown) => void this.#failed(`reporting has ended: ${String(error)}`));
  }

  /** There is a report to send, or the caller cannot wait for the next try. */
  wake(): void {
    this.#work.ring();
  }

  state(): SinkState {
    const { name, url } = this.#options;
    const isDone = this.#next().length === 0;
    return { name, url, isDone, isSuperseded: this.#isSuperseded, trouble: this.#trouble };
  }

  advice(): SinkAdvice | undefined {
    return this.#advice;
  }

  /** Resolves when it has everything, takes nothing more, or `isEnough` finds its state good enough. */
  async done(signal: AbortSignal, isEnough: (state: SinkState) => boolean = () => false): Promise<void> {
    for (;;) {
      const { rings } = this.#news;
      const state = this.state();
      if (state.isDone || state.isSuperseded || signal.aborted || isEnough(state)) return;
      await this.#news.rung(rings, signal);
    }
  }

  /** Sends the newest report again, which changes nothing and brings the command. True when there was an answer. */
  async ask(waitMs: number, signal: AbortSignal): Promise<boolean> {
    const event = this.#spool.newest();
    if (event === undefined || this.#isSuperseded || !this.state().isDone) return false;
    const { remote } = this.#confirmed;
    const { command = 'none', phase = '' } = this.#advice ?? {};
    const headers = {
      [waitHeaders.prefer]: `wait=${Math.ceil(waitMs / 1000)}`,
      [waitHeaders.seen]: `${command}/${phase}`,
    };
    const answer = await this.#post({ ...event, seq: remote }, { headers, waitMs, signal });
    if (answer?.status !== 202) return false;
    const told = readAnswer(answer);
    if (told !== undefined) this.#take(event, told);
    return told !== undefined;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#end.abort(new Error('the reporter has ended'));
    await this.#running;
  }

  #next(): readonly ProgressEvent[] {
    return this.#spool.after(this.#confirmed.local, this.#options.takesLists && !this.#isOneByOne ? listMax : 1);
  }

  async #run(): Promise<void> {
    const { signal } = this.#end;
    const { clock, random } = this.#host;
    let failures = 0;
    while (!signal.aborted) {
      const { rings } = this.#work;
      const events = this.#isSuperseded ? [] : this.#next();
      const last = events.at(-1);
      if (last === undefined) {
        this.#isOneByOne = false;
        await this.#work.rung(rings, signal);
      } else if (await this.#send(events, last)) {
        failures = 0;
      } else if (!signal.aborted) {
        failures += 1;
        const ms = pauseBefore(pauses, Math.min(failures, 10), random);
        await pause(clock, { ms, signal, wake: (over) => this.#work.rung(rings, over) }).catch((error: unknown) => {
          if (!signal.aborted) throw error;
        });
      }
    }
  }

  /** False when it is to be tried again later. */
  async #send(events: readonly ProgressEvent[], last: ProgressEvent): Promise<boolean> {
    const { local, remote } = this.#confirmed;
    const numbered = events.map((event, index) => ({ ...event, seq: remote + 1 + index }));
    const lastSeq = remote + events.length;
    const mayBeThere = Math.max(this.#sentMax, lastSeq);
    const body = events.length === 1 ? numbered[0] : numbered;
    const answer = await this.#post(body, { headers: {}, waitMs: 0, signal: this.#end.signal });
    this.#sentMax = mayBeThere;
    if (answer === undefined) return false;
    const told = answer.status === 202 ? readAnswer(answer) : undefined;
    if (told !== undefined) {
      // It has numbers that were never sent from here: these are reports of somebody else.
      const isTaken = told.ackSeq > mayBeThere;
      await this.#confirm(isTaken ? { local, remote: told.ackSeq } : { local: last.seq, remote: lastSeq });
      if (!isTaken) this.#take(last, told);
      return true;
    }
    if (events.length > 1) {
      this.#isOneByOne = true;
      return true;
    }
    if (refusedForEver.includes(answer.status)) {
      // The next report takes its number.
      await this.#confirm({ local: last.seq, remote });
      return true;
    }
    const gap = answer.status === 409 ? gapSchema.safeParse(jsonIfValid(answer.body)).data : undefined;
    // No number, or the one that it has just refused.
    if (gap === undefined || gap.ackSeq === remote) return this.#failed(`its answer ${answer.status} cannot be used`);
    const isBehind = gap.ackSeq < remote;
    await this.#confirm({ local: isBehind ? local - (remote - gap.ackSeq) : local, remote: gap.ackSeq });
    return true;
  }

  async #confirm(confirmed: ConfirmedReports): Promise<void> {
    this.#confirmed = confirmed;
    await this.#spool.confirm(this.#options.name, confirmed);
    this.#news.ring();
  }

  #take(event: ProgressEvent, { command, phase }: ProgressAnswer): void {
    this.#advice = { seq: event.seq, command, phase };
    this.#trouble = undefined;
    this.#news.ring();
  }

  #failed(problem: string): false {
    if (this.#trouble !== problem) this.#options.onTrouble(problem);
    this.#trouble = problem;
    this.#news.ring();
    return false;
  }

  /** Undefined where there was no answer that says anything about the report. */
  async #post(report: unknown, { headers, waitMs, signal }: PostOptions): Promise<HttpAnswer | undefined> {
    const { url, token, ca, proxy } = this.#options;
    try {
      const answer = await this.#host.network.request({
        url,
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
        body: JSON.stringify(report),
        timeoutMs: requestMs + waitMs,
        maxBytes: answerBytesMax,
        signal: AbortSignal.any([signal, this.#end.signal]),
        ...(ca === undefined ? {} : { ca }),
        ...(proxy === undefined ? {} : { proxy }),
      });
      if (answer.status === 202 || answer.status === 409 || refusedForEver.includes(answer.status)) return answer;
      this.#isSuperseded = answer.status === 410;
      this.#failed(this.#isSuperseded ? 'another attempt has taken its place' : `it answered ${answer.status}`);
    } catch (error) {
      if (signal.aborted || this.#end.signal.aborted) return undefined;
      if (!(error instanceof FirstlightError)) throw error;
      this.#failed(error.message);
    }
    return undefined;
  }
}

interface PostOptions {
  readonly headers: Readonly<Record<string, string>>;
  /** How long the server may keep the answer back. */
  readonly waitMs: number;
  readonly signal: AbortSignal;
}

function readAnswer({ body }: HttpAnswer): ProgressAnswer | undefined {
  return progressAnswerSchema.safeParse(jsonIfValid(body)).data;
}
