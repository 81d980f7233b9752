// Files that systemd reads with EnvironmentFile=. A written file keeps the order and the comments of its template; a
// value is quoted only where systemd or a shell needs it.
export interface EnvLine {
  /** Undefined for a line that is not an assignment, such as a comment: it is kept as it is. */
  readonly key?: string;
  readonly text: string;
}

export const imageTagVariable = 'KUBELET_IMAGE_TAG';

/** The value that systemd reads: of several assignments the last one counts. */
export function readEnvValue(text: string, key: string): string | undefined {
  const line = parseEnvLines(text).findLast((candidate) => candidate.key === key);
  return line?.text;
}

/** The template with the image tag replaced everywhere, or appended where the template has none. */
export function renderKubeletEnv(template: string, tag: string): string {
  const lines = parseEnvLines(template);
  const isStated = lines.some((line) => line.key === imageTagVariable);
  const written = lines.map(({ key, text }) => {
    if (key === undefined) return text;
    return `${key}=${quoted(key === imageTagVariable ? tag : text)}`;
  });
  return `${[...written, ...(isStated ? [] : [`${imageTagVariable}=${quoted(tag)}`])].join('\n')}\n`;
}

export function readImageTag(text: string): string | undefined {
  return readEnvValue(text, imageTagVariable);
}

function parseEnvLines(text: string): readonly EnvLine[] {
  const lines = text.replace(/\n+$/, '').split('\n');
  return lines.map((line) => {
    const match = /^\s*([A-Za-z_][A-Za-z0-9_]*)\s*=(.*)$/.exec(line);
    const value = match === null ? undefined : unquoted((match[2] ?? '').trim());
    return match?.[1] === undefined || value === undefined ? { text: line } : { key: match[1], text: value };
  });
}

/** Undefined if a quote does not close on this line; such a line is copied without a change. */
function unquoted(value: string): string | undefined {
  const quote = value[0];
  if (quote !== '"' && quote !== "'") return value.endsWith('\\') ? undefined : value.replace(/\\(.)/g, '$1');
  const inner = value.slice(1, -1);
  if (value.length < 2 || value.at(-1) !== quote) return undefined;
  if (quote === "'") return inner.includes("'") ? undefined : inner;
  if (/(^|[^\\])(\\\\)*"/.test(inner) || /(^|[^\\])(\\\\)*\\$/.test(inner)) return undefined;
  return inner.replace(/\\(["\\$`])/g, '$1');
}

function quoted(value: string): string {
  // A shell expands an unquoted ~ to a home folder.
  if (/^[A-Za-z0-9_@%+=:,./^-]*$/.test(value)) return value;
  return `"${value.replace(/["\\$`]/g, '\\$&')}"`;
}
