// JSON and Ignition files of the asset folder, checked when they are read: a user may have edited them.
import type { z } from 'zod';
import { parseIgnition } from '../ignition/parse.ts';
import { formatReport } from '../ignition/report.ts';
import { type FileSet, textOf } from './asset.ts';
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

/** The text of an Ignition config that passes Ignition's own rules. */
export function readAssetIgnition(file: string, files: FileSet): string {
  const text = textOf(files);
  const parsed = parseIgnition(text);
  if (parsed.status === 'parsed' && parsed.report.errors.length === 0) return text;
  throw assetErrors.UNREADABLE({ file, reason: `Ignition would refuse it: ${formatReport(parsed.report).trim()}` });
}
