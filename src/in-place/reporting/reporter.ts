// The reporter of an attempt, in the pod and on the host: every report is on the disk first, then goes in order to the
// cluster's own progress API, and to a foreign one where the Secret names it. A server that does not answer, or a disk
// that is full, never fails the attempt.
import {
  type AttemptSettings,
  attemptProxyVariables,
  type InPlacePhase,
  messageLengthMax,
  type ProgressCommand,
  type ProgressEvent,
  progressPath,
} from '../../contract/in-place.ts';
import { bootIdFile } from '../../contract/machine-paths.ts';
import type { Host } from '../../host/host.ts';
import { proxyFor } from '../../host/proxy-variables.ts';
import { ReportSink, type SinkName, type SinkOptions, type SinkState } from './report-sink.ts';
import { openSpool, type ReportSpool } from './report-spool.ts';

/** What the caller says; the reporter adds number, boot, time, system and version. */
export type AttemptReportEvent = Omit<ProgressEvent, 'seq' | 'bootId' | 'at' | 'os' | 'agentVersion'>;

export interface AttemptReporterOptions {
  readonly settings: AttemptSettings;
  /** The folder of the reports: `attemptFiles(…).spool` on a host. Made where it is missing. */
  readonly spool: string;
  /** The program and its version. */
  readonly agentVersion: string;
  /** Where the boot of the machine is read. In a pod the usual place may show another one than its machine has. */
  readonly bootIdFile?: string;
  /** Called once for every new reason why a server does not take reports. */
  readonly onTrouble?: (sink: SinkName, problem: string) => void;
}

/** What the servers told with their last answers. */
export interface ReporterAdvice {
  /**
   * `pause` also while the cluster's own API has not answered to the newest report. `cleared` comes only from there;
   * `abort` and `pause` from either. `abort` also when another attempt has taken the place of this one.
   */
  readonly command: ProgressCommand;
  /** Where the controller sees the attempt; undefined while that is not known. */
  readonly phase: InPlacePhase | undefined;
}

export interface AttemptReporter extends AsyncDisposable {
  /** Resolves with its number when the report is on the disk; it is sent in the background. A full disk is no error. */
  report(event: AttemptReportEvent): Promise<number>;
  /** Asks once more, by sending the newest report again; without an answer within seconds, what is known. */
  command(): Promise<ProgressCommand>;
  /** Asks until the advice fits; undefined when the time is over. Throws the reason of the signal. */
  waitFor(
    fits: (advice: ReporterAdvice) => boolean,
    limits: { readonly deadlineMs: number; readonly signal: AbortSignal },
  ): Promise<ReporterAdvice | undefined>;
  /** True when the cluster's own API has everything. A foreign one is waited for only as long as it answers. */
  flush(deadlineMs: number): Promise<boolean>;
  /** Of each server: how far it is, and what is wrong with it. */
  sinks(): readonly SinkState[];
}

/** Resolves also where no server answers and where the disk cannot be written. */
export async function openReporter(host: Host, options: AttemptReporterOptions): Promise<AttemptReporter> {
  const { settings, spool: folder } = options;
  const spool = await openSpool(host, { folder, lastSeq: settings.lastSeq });
  const bootId = Buffer.from((await host.files.readIfPresent(options.bootIdFile ?? bootIdFile)) ?? 'unknown').toString(
    'utf8',
  );
  return new SpooledReporter(host, spool, { ...options, bootId: bootId.trim() });
}

/** How long the server may keep an answer back; less where a foreign one is asked in between. */
const waitMs = 8_000;
const waitBesideForeignMs = 2_000;
/** Between two questions, where the answer was the same or none. */
const askAgainMs = 300;
const commandMs = 5_000;

class SpooledReporter implements AttemptReporter {
  readonly #host: Host;
  readonly #spool: ReportSpool;
  readonly #options: AttemptReporterOptions & { readonly bootId: string };
  readonly #end = new AbortController();
  readonly #cluster: ReportSink;
  readonly #foreign: ReportSink | undefined;
  #askingForeign: Promise<unknown> | undefined;

  constructor(host: Host, spool: ReportSpool, options: AttemptReporterOptions & { readonly bootId: string }) {
    this.#host = host;
    this.#spool = spool;
    this.#options = options;
    const open = (sink: Omit<SinkOptions, 'onTrouble'>): ReportSink =>
      new ReportSink(host, spool, { ...sink, onTrouble: (problem) => options.onTrouble?.(sink.name, problem) });
    this.#cluster = open(clusterSink(options.settings));
    const foreign = foreignSink(options.settings);
    this.#foreign = foreign === undefined ? undefined : open(foreign);
  }

  async report(event: AttemptReportEvent): Promise<number> {
    const { bootId, agentVersion, settings } = this.#options;
    const added = await this.#spool.add({
      ...event,
      step: event.step.slice(0, 100),
      message: event.message.slice(0, messageLengthMax),
      bootId,
      at: this.#host.clock.now().toISOString(),
      os: settings.grant.secret.os === 'rhel' ? 'rhel' : 'rhcos',
      agentVersion,
    });
    for (const sink of this.#sinks()) sink.wake();
    return added.seq;
  }

  async command(): Promise<ProgressCommand> {
    const over = new AbortController();
    using _ = this.#host.clock.after(commandMs, () => over.abort(new Error('no answer in time')));
    await this.#ask(0, AbortSignal.any([over.signal, this.#end.signal]));
    return this.#advice().command;
  }

  async waitFor(
    fits: (advice: ReporterAdvice) => boolean,
    { deadlineMs, signal }: { readonly deadlineMs: number; readonly signal: AbortSignal },
  ): Promise<ReporterAdvice | undefined> {
    const { clock } = this.#host;
    const over = new AbortController();
    using _ = clock.after(deadlineMs, () => over.abort(new Error('the time is over')));
    const either = AbortSignal.any([over.signal, signal, this.#end.signal]);
    const patienceMs = this.#foreign === undefined ? waitMs : waitBesideForeignMs;
    // The answer to what was reported may say it already; a foreign server has its say first.
    this.#cluster.wake();
    await (this.#foreign === undefined ? this.#cluster.done(either) : this.#ask(0, either));
    signal.throwIfAborted();
    for (;;) {
      const before = this.#advice();
      if (fits(before)) return before;
      const startMs = clock.monotonicMs();
      await this.#ask(patienceMs, either);
      signal.throwIfAborted();
      const advice = this.#advice();
      if (either.aborted) return fits(advice) ? advice : undefined;
      const isNew = advice.command !== before.command || advice.phase !== before.phase;
      const restMs = isNew ? 0 : askAgainMs - (clock.monotonicMs() - startMs);
      await clock.sleep(Math.max(0, restMs), either).catch(() => {});
    }
  }

  async flush(deadlineMs: number): Promise<boolean> {
    const over = new AbortController();
    using _ = this.#host.clock.after(deadlineMs, () => over.abort(new Error('the time is over')));
    const signal = AbortSignal.any([over.signal, this.#end.signal]);
    for (const sink of this.#sinks()) sink.wake();
    await Promise.all([
      this.#cluster.done(signal),
      this.#foreign?.done(signal, ({ trouble }) => trouble !== undefined),
    ]);
    return this.#cluster.state().isDone;
  }

  sinks(): readonly SinkState[] {
    return this.#sinks().map((sink) => sink.state());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#end.abort(new Error('the reporter has ended'));
    for (const sink of this.#sinks()) await sink[Symbol.asyncDispose]();
    await this.#askingForeign;
    await this.#spool[Symbol.asyncDispose]();
  }

  #sinks(): readonly ReportSink[] {
    return this.#foreign === undefined ? [this.#cluster] : [this.#cluster, this.#foreign];
  }

  /** What was reported goes first. A foreign server is asked beside it, and does not delay an answer that came. */
  async #ask(patienceMs: number, signal: AbortSignal): Promise<void> {
    const foreign = this.#askForeign();
    this.#cluster.wake();
    await this.#cluster.done(signal);
    await this.#cluster.ask(patienceMs, signal);
    if (patienceMs === 0 && this.#foreign?.state().trouble === undefined) await foreign;
  }

  #askForeign(): Promise<unknown> {
    const forget = (): void => (this.#askingForeign = undefined);
    this.#askingForeign ??= this.#foreign?.ask(0, this.#end.signal).finally(forget);
    return this.#askingForeign ?? Promise.resolve();
  }

  #advice(): ReporterAdvice {
    const newest = this.#spool.newest()?.seq;
    const [own, foreign] = [this.#cluster.advice(), this.#foreign?.advice()];
    const isAnswered = own !== undefined && own.seq === newest;
    const commands = [isAnswered ? own.command : 'pause', foreign?.command ?? 'none'];
    const phase = own?.phase;
    if (this.#cluster.state().isSuperseded || commands.includes('abort')) return { command: 'abort', phase };
    if (commands.includes('pause')) return { command: 'pause', phase };
    return { command: isAnswered ? own.command : 'none', phase };
  }
}

function clusterSink({ facts, node, attemptId, grant }: AttemptSettings): Omit<SinkOptions, 'onTrouble'> {
  const url = new URL(progressPath(facts.clusterId, node, attemptId), facts.serviceUrl).href;
  return { name: 'cluster', url, token: grant.token, ca: facts.serviceCa, takesLists: true };
}

/** The same paths below the URL of the Secret; with the cluster's id of the Secret, where it has one. */
function foreignSink({ facts, node, attemptId, grant }: AttemptSettings): Omit<SinkOptions, 'onTrouble'> | undefined {
  const { secret } = grant;
  const base = secret['report-url'];
  if (base === undefined || !URL.canParse(base)) return undefined;
  const url = `${base.replace(/\/+$/, '')}${progressPath(secret['cluster-id'] ?? facts.clusterId, node, attemptId)}`;
  const ca = secret['report-ca.crt'];
  const proxy = proxyFor(url, attemptProxyVariables(secret.proxy));
  return {
    name: 'foreign',
    takesLists: false,
    url,
    token: secret['report-token'] ?? '',
    ...(ca === undefined ? {} : { ca }),
    ...(proxy === undefined ? {} : { proxy }),
  };
}
