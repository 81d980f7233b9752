// Writes events to stderr and to the log file in the asset folder. It never prints results. The log is written only
// where its folder exists, and only for events that change something: a run without changes writes nothing.
import { join } from 'node:path';
import { ownFolder } from '../contract/asset-folder.ts';
import { stageProgressText } from '../contract/stage-progress.ts';
import type { AppendHandle } from '../host/files.ts';
import type { Host } from '../host/host.ts';
import { redact } from '../host/redact.ts';
import type { Terminal } from '../host/terminal.ts';
import { shownText } from '../host/terminal-text.ts';
import type { Emit, WorkflowEvent } from '../workflow/events.ts';

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
  const log = logFile(options.host, join(options.dir, ownFolder));
  return {
    emit: (event) => {
      const { level, text } = describeEvent(event);
      if (order.indexOf(level) >= order.indexOf(options.level)) tell(options.terminal, level, text);
      if (event.kind !== 'stage-unchanged') log.add(logLine(options.host, level, event, text));
    },
    [Symbol.asyncDispose]: () => log.close(),
  };
}

/** An event in words, one line, with its level. The screen and the log use the same words. */
export function describeEvent(event: WorkflowEvent): { readonly level: LogLevel; readonly text: string } {
  switch (event.kind) {
    case 'stage-unchanged':
      return { level: 'debug', text: `${event.stage}: unchanged` };
    case 'stage-adopted':
      return { level: 'info', text: `${event.stage}: ${event.note}` };
    case 'stage-paused':
      return { level: 'info', text: event.text };
    case 'stage-started':
      return { level: 'debug', text: `${event.stage}: ${event.because}` };
    case 'stage-progress':
      return { level: 'info', text: `${event.stage}: ${stageProgressText(event.progress)}` };
    case 'stage-done':
      return { level: 'debug', text: `${event.stage}: ${event.note ?? 'done'} in ${(event.ms / 1000).toFixed(2)} s` };
    case 'stage-failed':
      return { level: 'debug', text: `${event.stage}: failed after ${(event.ms / 1000).toFixed(2)} s` };
    case 'notice':
      return { level: event.level, text: event.text };
  }
}

function tell(terminal: Terminal, level: LogLevel, text: string): void {
  const line = `${marks[level]} ${text}`;
  if (terminal.hasColors && level === 'warn') terminal.draw([{ color: 'yellow' }, line, { color: 'none' }, '\n']);
  else terminal.err(`${line}\n`);
}

function logLine(host: Host, level: LogLevel, event: WorkflowEvent, text: string): string {
  const error = event.kind === 'stage-failed' && event.error instanceof Error ? { error: event.error.stack } : {};
  const time = host.clock.now().toISOString();
  // Logs are read on terminals too.
  return `${shownText(redact(JSON.stringify({ time, level, kind: event.kind, text, ...error })))}\n`;
}

/** Appends during the run: lines that arrive during one write are part of the next. */
function logFile(host: Host, folder: string): { add: (line: string) => void; close: () => Promise<void> } {
  let waiting: string[] = [];
  let handle: AppendHandle | undefined;
  let writing: Promise<void> | undefined;
  const write = async (): Promise<void> => {
    try {
      while (waiting.length > 0) {
        if (handle === undefined && (await host.files.facts(folder)) === undefined) return;
        handle ??= await host.files.openAppend(join(folder, 'log'), { mode: 0o600 });
        const lines = waiting;
        waiting = [];
        await handle.append(lines.join(''));
      }
    } catch {
      // A log that cannot be written must not turn a success into a failure; the same facts went to stderr.
    } finally {
      writing = undefined;
    }
  };
  return {
    add: (line) => {
      waiting.push(line);
      writing ??= write();
    },
    close: async () => {
      await writing;
      if (waiting.length > 0) await write();
      await handle?.[Symbol.asyncDispose]();
    },
  };
}
