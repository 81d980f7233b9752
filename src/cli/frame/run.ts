// One call of the program: parse, run the verb, print its result, turn failures into one message and an exit code.
// Imports are lazy on purpose: help and usage errors must not pay for what only a running verb needs.
import { isAbsolute, join } from 'node:path';
import { exitCodes } from '../../errors/exit-codes.ts';
import type { FirstlightError } from '../../errors/firstlight-error.ts';
import type { Host } from '../../host/host.ts';
import type { Terminal } from '../../host/terminal.ts';
import type { GlobalOptions, OutputFormat } from './verb.ts';
import { commands } from '../verbs.ts';
import { helpText, helpWords } from './help.ts';
import type { ParsedCall } from './parser.ts';

export interface CliOptions {
  readonly argv: readonly string[];
  readonly loadHost: () => Promise<Host>;
  readonly terminal: Terminal;
  /** Aborted with the signal's name when the person or the system asks us to stop. */
  readonly interrupt: AbortSignal;
}

export async function runCli(options: CliOptions): Promise<number> {
  const { argv, terminal } = options;
  const words = helpWords(argv, commands);
  const help = words && helpText(words, commands, terminal.outIsTerminal ? Math.min(terminal.columns(), 100) : 80);
  if (help !== undefined) {
    terminal.out(help);
    return exitCodes.ok;
  }
  try {
    const { parseCall } = await import('./parser.ts');
    return await runVerb(options, parseCall(argv, commands));
  } catch (error) {
    return await reportFailure(options, error);
  }
}

async function runVerb(options: CliOptions, call: ParsedCall): Promise<number> {
  const { terminal } = options;
  const host = await options.loadHost();
  const global = readGlobals(call, host);
  const body = await call.spec.load();
  const { reporter } = await import('../../screen/reporter.ts');
  await using report = reporter({ host, terminal, dir: global.dir, level: global.logLevel });
  const { interruptible } = await import('./interrupt.ts');
  const { emit } = report;
  const signal = interruptible(options.interrupt);
  const result = await body({ host, terminal, signal, emit, args: call.args, options: call.options, global });
  const { formatResult } = await import('./print.ts');
  terminal.out(await formatResult(result, global.output));
  return result.exit ?? exitCodes.ok;
}

function readGlobals(call: ParsedCall, host: Host): GlobalOptions {
  const { dir, output, logLevel } = call.options as unknown as GlobalOptions;
  return { dir: isAbsolute(dir) ? dir : join(host.environment.workingFolder, dir), output, logLevel };
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
  terminal.err(formatError(error, askedFormat(argv)));
  return error.exit;
}

/** The output format, read without the parser, because the parser may be what failed. */
function askedFormat(argv: readonly string[]): OutputFormat {
  return /(^|\s)(-o|--output)[ =]?(json|yaml)\b/.test(argv.join(' ')) ? 'json' : 'text';
}
