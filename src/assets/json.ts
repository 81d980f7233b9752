// JSON files of the asset folder, checked when they are read: a person may have edited them.
import type { z } from 'zod';
import { assetErrors } from './errors.ts';

export function readAssetJson<T>(file: string, text: string, schema: z.ZodType<T>): T {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw assetErrors.UNREADABLE({ file, reason: `it is not JSON (${(cause as Error).message})` }, { cause });
  }
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const where = issue === undefined || issue.path.length === 0 ? '' : `${issue.path.join('.')}: `;
  throw assetErrors.UNREADABLE({ file, reason: `${where}${issue?.message ?? 'it does not have the right form'}` });
}
