// Reads the event stream and tells the person (stderr) and the log file in the asset folder. It never prints results.
// The log file is only touched once there is a folder to hold it: looking at something must not create anything.
import { join } from 'node:path';
import type { AppendHandle } from '../host/files.ts';
import type { Host } from '../host/host.ts';
import type { Terminal } from '../host/terminal.ts';
import type { Emit, WorkflowEvent } from '../workflow/events.ts';
import { redact } from './redact.ts';
import { describeEvent } from './words.ts';

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

export interface ReporterOptions {
  readonly host: Host;
  readonly terminal: Terminal;
  readonly dir: string;
  readonly level: LogLevel;
}

export interface Reporter extends AsyncDisposable {
  readonly emit: Emit;
}

const order: readonly LogLevel[] = ['debug', 'info', 'warn', 'error'];
const marks: Readonly<Record<LogLevel, string>> = { debug: '·', info: ' ', warn: '!', error: '✗' };

export function reporter(options: ReporterOptions): Reporter {
  const lines: string[] = [];
  return {
    emit: (event) => {
      const { level, text } = describeEvent(event);
      if (order.indexOf(level) >= order.indexOf(options.level)) tell(options.terminal, level, text);
      lines.push(logLine(options.host, level, event, text));
    },
    [Symbol.asyncDispose]: () => flush(options, lines),
  };
}

function tell(terminal: Terminal, level: LogLevel, text: string): void {
  const line = `${marks[level]} ${text}`;
  terminal.err(terminal.hasColors && level === 'warn' ? `\u001B[33m${line}\u001B[0m\n` : `${line}\n`);
}

function logLine(host: Host, level: LogLevel, event: WorkflowEvent, text: string): string {
  const error = event.kind === 'stage-failed' && event.error instanceof Error ? { error: event.error.stack } : {};
  const time = host.clock.now().toISOString();
  return redact(JSON.stringify({ time, level, kind: event.kind, text, ...error }));
}

async function flush({ host, dir }: ReporterOptions, lines: readonly string[]): Promise<void> {
  const folder = join(dir, '.firstlight');
  if (lines.length === 0 || (await host.files.facts(folder)) === undefined) return;
  let log: AppendHandle | undefined;
  try {
    log = await host.files.openAppend(join(folder, 'log'), { mode: 0o600 });
    await log.append(`${lines.join('\n')}\n`);
  } catch {
    // A log that cannot be written must not turn a success into a failure; the same facts went to stderr.
  } finally {
    await log?.[Symbol.asyncDispose]();
  }
}
