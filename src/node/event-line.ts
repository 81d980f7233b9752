// An event of a long-running part as one line for the log; errors by what they say.
export function eventLine(event: object): string {
  return JSON.stringify(event, (_name, value: unknown) => (value instanceof Error ? value.message : value));
}
