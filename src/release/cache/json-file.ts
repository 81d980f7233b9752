// Small JSON files of ours that can be made again: one that is missing, torn or of another shape counts as not there.
import type { z } from 'zod';
import type { Files } from '../../host/files.ts';

export async function readJsonFile<T>(files: Files, path: string, schema: z.ZodType<T>): Promise<T | undefined> {
  const bytes = await files.readIfPresent(path);
  return bytes === undefined ? undefined : parseJson(bytes, schema);
}

export function parseJson<T>(bytes: Uint8Array, schema: z.ZodType<T>): T | undefined {
  try {
    return schema.safeParse(JSON.parse(Buffer.from(bytes).toString('utf8'))).data;
  } catch {
    return undefined;
  }
}
