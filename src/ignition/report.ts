// The report about a config: errors and warnings, each with its code, its JSON path and, when the config came as
// text, the line and column. A config with errors is refused as a whole.
import type { FieldPath } from '../source-text/field-path.ts';
import type { Position } from '../source-text/place.ts';
import type { ConfigFinding, ProblemCode, Severity } from './problems.ts';
import { problems } from './problems.ts';

export interface ReportEntry {
  readonly severity: Severity;
  readonly code: ProblemCode;
  readonly message: string;
  /** `$.storage.files.0.mode`; `$` is the whole config. */
  readonly path: string;
  readonly position?: Position;
}

export interface IgnitionReport {
  readonly errors: readonly ReportEntry[];
  readonly warnings: readonly ReportEntry[];
}

export type ReportVerdict = 'error' | 'warning' | 'fine';

export function reportVerdict(report: IgnitionReport): ReportVerdict {
  if (report.errors.length > 0) return 'error';
  return report.warnings.length > 0 ? 'warning' : 'fine';
}

export function makeReport(
  findings: readonly ConfigFinding[],
  positionOf: (found: ConfigFinding) => Position | undefined = () => undefined,
): IgnitionReport {
  const entries = findings.map((found): ReportEntry => {
    const { severity, says } = problems[found.code];
    const position = positionOf(found);
    return {
      severity,
      code: found.code,
      message: found.detail === undefined ? says : `${says}: ${found.detail}`,
      path: jsonPathText(found.path),
      ...(position === undefined ? {} : { position }),
    };
  });
  return {
    errors: entries.filter((entry) => entry.severity === 'error'),
    warnings: entries.filter((entry) => entry.severity === 'warning'),
  };
}

export function jsonPathText(path: FieldPath): string {
  return ['$', ...path].join('.');
}

/** One line per entry, errors first: `config.ign:3:14: error: $.storage.files.0.path: a path is required`. */
export function formatReport(report: IgnitionReport, sourceName = 'config'): string {
  return [...report.errors, ...report.warnings]
    .map(({ position, severity, path, message }) => {
      const place = position === undefined ? sourceName : `${sourceName}:${position.line}:${position.column}`;
      return `${place}: ${severity}: ${path}: ${message}\n`;
    })
    .join('');
}
