// Escapes text for systemd units, so that systemd reads it literally. This is the only file that knows
// systemd's quoting (systemd.syntax(7)), specifiers (`%`) and command-line variables (`$`).
// Rule: a plain string is always literal; what systemd shall expand is written with `specifier` or `variable`.

/** A specifier that systemd replaces when it loads the unit: `specifier('H')` is the host name. */
export interface Specifier {
  readonly kind: 'specifier';
  readonly letter: string;
}

/** An environment variable that systemd replaces when it runs the command; empty when it is not set. */
export interface Variable {
  readonly kind: 'variable';
  readonly name: string;
  /** Split at white space into several arguments (`$NAME` as a word of its own), instead of one (`${NAME}`). */
  readonly isSplit: boolean;
}

/** One word of a command line: literal text, or parts that are put together. */
export type Argument = string | Variable | readonly (string | Specifier | Variable)[];

export function specifier(letter: string): Specifier {
  if (!/^[A-Za-z]$/.test(letter)) throw new Error(`a systemd specifier is one letter, not ${JSON.stringify(letter)}`);
  return { kind: 'specifier', letter };
}

export function variable(name: string): Variable {
  return { kind: 'variable', name: variableName(name), isSplit: false };
}

/** The words of an environment variable as separate arguments, none when it is empty. */
export function splitVariable(name: string): Variable {
  return { kind: 'variable', name: variableName(name), isSplit: true };
}

function variableName(name: string): string {
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) throw new Error(`${JSON.stringify(name)} is not a variable name`);
  return name;
}

/** A value that runs to the end of its line (Description=, ConditionPathExists=, EnvironmentFile=). */
export function lineValue(text: string): string {
  if (/[\0\r\n]/.test(text)) throw new Error(`${JSON.stringify(text)} does not fit on one line of a unit`);
  if (text.endsWith('\\')) throw new Error(`${JSON.stringify(text)} would continue on the next line of the unit`);
  return escapeSpecifiers(text);
}

/** One word of a line on which `$` has no meaning (Environment=). */
export function quotedWord(text: string): string {
  return quoteIfNeeded(escapeSpecifiers(text));
}

/** One word of a command line, where `$` means a variable. */
export function commandWord(argument: Argument): string {
  if (typeof argument === 'string') return quoteIfNeeded(escapeCommandText(argument));
  if ('kind' in argument) return argument.isSplit ? `$${argument.name}` : `\${${argument.name}}`;
  const text = argument.map((part) => {
    if (typeof part === 'string') return escapeCommandText(part);
    return part.kind === 'specifier' ? `%${part.letter}` : `\${${part.name}}`;
  });
  return quoteIfNeeded(text.join(''));
}

function escapeSpecifiers(text: string): string {
  return text.replaceAll('%', '%%');
}

function escapeCommandText(text: string): string {
  return escapeSpecifiers(text).replaceAll('$', '$$$$');
}

const namedEscapes: Readonly<Record<string, string>> = {
  '\\': '\\\\',
  '"': '\\"',
  '\n': '\\n',
  '\t': '\\t',
  '\r': '\\r',
};

function quoteIfNeeded(text: string): string {
  if (text.includes('\0')) throw new Error('a unit cannot hold a NUL byte');
  // A lone `;` separates commands; a leading `#` or `;` would comment the line out where it starts one.
  if (text !== '' && /^[^\s"'\\;#\p{Cc}]+$/u.test(text)) return text;
  const escaped = text.replace(/[\\"\p{Cc}]/gu, (char) => {
    const named = namedEscapes[char];
    if (named !== undefined) return named;
    return `\\x${char.charCodeAt(0).toString(16).padStart(2, '0')}`;
  });
  return `"${escaped}"`;
}
