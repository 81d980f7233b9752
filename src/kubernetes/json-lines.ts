// One JSON value per line, from bytes that arrive in any pieces. A last line without its end was cut off: not a value.
export async function* jsonLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of chunks) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      if (line.trim() !== '') yield JSON.parse(line);
    }
  }
}
