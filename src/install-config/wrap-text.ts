// Breaks a text into lines no longer than a width. A word that is longer stays whole: it may be a command or a path.
export function wrapText(
  text: string,
  options: { readonly width: number; readonly margin: string },
): readonly string[] {
  const lines: string[] = [];
  for (const word of text.split(' ').filter((part) => part !== '')) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + word.length < options.width) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(`${options.margin}${word}`);
  }
  return lines;
}
