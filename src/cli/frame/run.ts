// One call of the program: parse, run the verb, print its result, turn failures into one message and an exit code.
// Imports are lazy on purpose: help and usage errors must not pay for what only a running verb needs.
import { isAbsolute, join } from 'node:path';
import { exitCodes } from '../../errors/exit-codes.ts';
import type { FirstlightError } from '../../errors/firstlight-error.ts';
import type { Host } from '../../host/host.ts';
import type { Terminal } from '../../host/terminal.ts';
import { verbTable } from '../verbs.ts';
import type { OutputFormat } from './global-options.ts';
import { requestedHelp } from './help.ts';
import type { ParsedCall } from './parser.ts';

export interface CliOptions {
  readonly argv: readonly string[];
  readonly loadHost: () => Promise<Host>;
  readonly terminal: Terminal;
  /** Aborted with the signal's name when the user or the system wants us to stop. */
  readonly interrupt: AbortSignal;
}

export async function runCli(options: CliOptions): Promise<number> {
  const { argv, terminal } = options;
  const help = await requestedHelp(argv, verbTable, terminal.outIsTerminal ? Math.min(terminal.columns(), 100) : 80);
  if (help !== undefined) {
    terminal.out(help);
    return exitCodes.ok;
  }
  try {
    const { parseCall } = await import('./parser.ts');
    return await runVerb(options, await parseCall(argv, verbTable));
  } catch (error) {
    return await reportFailure(options, error);
  }
}

async function runVerb(options: CliOptions, { verb, args, ...call }: ParsedCall): Promise<number> {
  const { terminal } = options;
  const host = await options.loadHost();
  const { dir } = call.global;
  const global = { ...call.global, dir: isAbsolute(dir) ? dir : join(host.environment.workingFolder, dir) };
  const { reporter } = await import('../../screen/reporter.ts');
  await using report = reporter({ host, terminal, dir: global.dir, level: global.logLevel });
  const { emit } = report;
  const signal = await interruptible(options.interrupt);
  const { passedOn } = call;
  const result = await verb.run({ host, terminal, signal, emit, args, options: call.options, global, passedOn });
  const { formatResult } = await import('./print.ts');
  const text = await formatResult(result, global.output);
  if (result.isContent === true && global.output === 'text') terminal.outContent(text);
  else terminal.out(text);
  return result.exit ?? exitCodes.ok;
}

const interrupts: Readonly<Record<string, string>> = {
  SIGINT: 'Ctrl-C',
  SIGTERM: 'SIGTERM',
  SIGHUP: 'a closed terminal',
};

/** A signal of the operating system aborts the body with a coded error. */
async function interruptible(raw: AbortSignal): Promise<AbortSignal> {
  const { workflowErrors } = await import('../../workflow/errors.ts');
  const controller = new AbortController();
  const abort = (): void => {
    const by = interrupts[String(raw.reason)] ?? String(raw.reason);
    controller.abort(workflowErrors.INTERRUPTED({ by }));
  };
  if (raw.aborted) abort();
  else raw.addEventListener('abort', abort, { once: true });
  return controller.signal;
}

async function reportFailure(options: CliOptions, error: unknown): Promise<number> {
  const { FirstlightError } = await import('../../errors/firstlight-error.ts');
  if (error instanceof FirstlightError) return printFailure(options, error);
  const { cliErrors } = await import('./errors.ts');
  const reason = error instanceof Error ? error.message : String(error);
  const exit = await printFailure(options, cliErrors.INTERNAL({ reason }, { cause: error }));
  if (options.argv.includes('debug') && error instanceof Error) options.terminal.err(`${error.stack ?? ''}\n`);
  return exit;
}

async function printFailure({ terminal, argv }: CliOptions, error: FirstlightError): Promise<number> {
  const { formatError } = await import('./print.ts');
  terminal.err(formatError(error, formatIn(argv)));
  return error.exit;
}

/** The output format, read without the parser, because the parser may be what failed. */
function formatIn(argv: readonly string[]): OutputFormat {
  return /(^|\s)(-o|--output)[ =]?(json|yaml)\b/.test(argv.join(' ')) ? 'json' : 'text';
}
