// The text of a file for systemd's EnvironmentFile=. Values are quoted: a space or a `#` would end an unquoted one.

export function environmentText(variables: Readonly<Record<string, string>>): string {
  const quoted = (value: string): string => `"${value.replace(/[\\"`$]/g, (char) => `\\${char}`)}"`;
  return Object.entries(variables)
    .map(([name, value]) => `${name}=${quoted(value)}\n`)
    .join('');
}
