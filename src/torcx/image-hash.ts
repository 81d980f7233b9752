// Hashes of images as package lists state them: `sha512-<hex>`. A stream is hashed while it is copied, in one pass.
import { createHash } from 'node:crypto';

const hexLength: Readonly<Record<string, number>> = { sha256: 64, sha384: 96, sha512: 128 };

export interface ImageHash {
  readonly algorithm: string;
  readonly hex: string;
}

/** Throws a plain Error if the text is not a hash of a known kind. */
export function parseImageHash(text: string): ImageHash {
  const at = text.indexOf('-');
  const algorithm = text.slice(0, at).toLowerCase();
  const hex = text.slice(at + 1).toLowerCase();
  if (at === -1 || hexLength[algorithm] !== hex.length || !/^[0-9a-f]+$/.test(hex)) {
    throw new Error(`could not understand the package hash ${JSON.stringify(text.slice(0, 160))}`);
  }
  return { algorithm, hex };
}

/** The content has another hash or is longer than allowed: a retry of the same URL is pointless. */
export class ImageMismatch extends Error {}

/** Yields the chunks of the stream; throws ImageMismatch at its end if their hash is another one. */
export async function* verified(
  content: AsyncIterable<Uint8Array>,
  hash: string,
  maxBytes: number,
): AsyncGenerator<Uint8Array> {
  const { algorithm, hex } = parseImageHash(hash);
  const digest = createHash(algorithm);
  let sizeBytes = 0;
  for await (const chunk of content) {
    sizeBytes += chunk.length;
    if (sizeBytes > maxBytes) throw new ImageMismatch(`it is larger than ${maxBytes} bytes`);
    digest.update(chunk);
    yield chunk;
  }
  if (digest.digest('hex') !== hex) throw new ImageMismatch(`its ${algorithm} is not the one of the package list`);
}

export async function hasHash(content: AsyncIterable<Uint8Array>, hash: string): Promise<boolean> {
  try {
    for await (const chunk of verified(content, hash, Number.MAX_SAFE_INTEGER)) void chunk;
    return true;
  } catch (error) {
    if (error instanceof ImageMismatch) return false;
    throw error;
  }
}
