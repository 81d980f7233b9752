// An Ignition config of the asset folder, checked with Ignition's own rules when it is read: also one that we have just
// made, and one that a person edited.
import { parse } from '../ignition/parse.ts';
import { formatReport } from '../ignition/report.ts';
import { assetErrors } from './errors.ts';
import { type FileSet, textOf } from './asset.ts';

export function readIgnition(path: string, files: FileSet): string {
  const text = textOf(files);
  const parsed = parse(text);
  if (parsed.status === 'parsed' && parsed.report.errors.length === 0) return text;
  throw assetErrors.UNREADABLE({
    file: path,
    reason: `Ignition would refuse it: ${formatReport(parsed.report).trim()}`,
  });
}
