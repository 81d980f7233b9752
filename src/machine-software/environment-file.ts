// A file as systemd's EnvironmentFile= reads it; values are quoted, because a blank or a `#` would end them otherwise.

export function environmentText(variables: Readonly<Record<string, string>>): string {
  const quoted = (value: string): string => `"${value.replace(/[\\"`$]/g, (char) => `\\${char}`)}"`;
  return Object.entries(variables)
    .map(([name, value]) => `${name}=${quoted(value)}\n`)
    .join('');
}
