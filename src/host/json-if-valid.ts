// JSON that another program wrote: it may be cut off, or not be JSON at all.

/** The value; undefined where the content is not JSON. A schema then refuses it as it refuses any other wrong value. */
export function jsonIfValid(content: Uint8Array | string): unknown {
  const text = typeof content === 'string' ? content : Buffer.from(content).toString('utf8');
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
