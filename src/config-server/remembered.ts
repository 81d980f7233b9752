// What was worked out from a text before, for texts that come again and again: every machine of a cluster sends the same
// headers. Bounded in number and length, because a client chooses the text.
export interface Bounds {
  readonly entries: number;
  readonly characters: number;
}

export function remembered<T>(workOut: (text: string) => T, { entries, characters }: Bounds): (text: string) => T {
  const known = new Map<string, T>();
  return (text) => {
    const found = known.get(text);
    if (found !== undefined) return found;
    const value = workOut(text);
    if (text.length > characters) return value;
    // Whoever sends many different ones gains nothing by it, and costs the others one look.
    if (known.size >= entries) known.clear();
    known.set(text, value);
    return value;
  };
}
