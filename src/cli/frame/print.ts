// How a result or an error is printed: text for people, data for programs. Nothing else formats them.
import type { FirstlightError } from '../../errors/firstlight-error.ts';
import { shownText } from '../../host/terminal-text.ts';
import type { OutputFormat } from './global-options.ts';
import type { CommandResult } from './verb.ts';

export async function formatResult(result: CommandResult, format: OutputFormat): Promise<string> {
  if (format === 'text') return result.text;
  if (format === 'json') return `${JSON.stringify(result.data, null, 2)}\n`;
  const { toQuotedYaml, toYaml } = await import('../../kubernetes/yaml.ts');
  const yaml = toYaml(result.data);
  // The terminal shows a control character as an escape, and YAML reads escapes only between quotes.
  return shownText(yaml) === yaml ? yaml : toQuotedYaml(result.data);
}

/** One error, once: what and where, then what to do. With -o json the same facts as an object. */
export function formatError(error: FirstlightError, format: OutputFormat): string {
  if (format !== 'text') return `${JSON.stringify({ error: errorData(error) }, null, 2)}\n`;
  const head = error.message.includes('\n') ? error.message : `${error.message}   (${error.code})`;
  return `${head}\n${indent(error.hint)}\n`;
}

function errorData(error: FirstlightError): Record<string, unknown> {
  const { code, exit, message, hint, details } = error;
  return {
    code,
    exit,
    message,
    hint,
    details,
    ...(error.cause === undefined ? {} : { cause: causeText(error.cause) }),
  };
}

function causeText(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}

function indent(text: string): string {
  return text
    .split('\n')
    .map((line) => `  ${line}`)
    .join('\n');
}
