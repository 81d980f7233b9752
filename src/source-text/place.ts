// Places in a text: line and column, counted from 1 as editors count. A column counts characters (code points).
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** A position in a file that a user can open. */
export interface Place extends Position {
  readonly file: string;
}

export const textStart: Position = { line: 1, column: 1 };

export function placeText({ file, line, column }: Place): string {
  return `${file}:${line}:${column}`;
}

/** Returns the function from offsets in the text to positions. It is fast for offsets in ascending order. */
export function positionsIn(text: string): (offset: number) => Position {
  let last = { offset: 0, ...textStart };
  return (wanted) => {
    // The yaml library gives -1 where it knows no offset.
    const offset = Math.max(0, wanted);
    let { offset: at, line, column } = offset < last.offset ? { offset: 0, ...textStart } : last;
    const passed = text.slice(at, offset);
    for (let end = passed.indexOf('\n'); end >= 0; end = passed.indexOf('\n', end + 1)) {
      at = offset - passed.length + end + 1;
      line += 1;
      column = 1;
    }
    const before = text.slice(at, offset);
    column += before.length - (before.match(/[\u{10000}-\u{10ffff}]/gu)?.length ?? 0);
    last = { offset, line, column };
    return { line, column };
  };
}
