// The report of an audit for people: one line per area, below it what fails and what does not apply, a verdict last.
import { type AuditReport, countResults, type JudgedControl } from '../../audit/audit.ts';
import type { AuditFinding, VerdictResult } from '../../audit/control.ts';
import { auditAreas } from '../../audit/controls.ts';
import { wrapText } from '../../install-config/wrap-text.ts';

export interface AuditText {
  readonly benchmark: string;
  readonly cluster: string;
  readonly machines: number;
  readonly report: AuditReport;
  /** Also the controls that pass. */
  readonly showsAll: boolean;
}

const marks: Readonly<Record<VerdictResult, string>> = { pass: '✓', fail: '✗', 'not-applicable': '–', unknown: '?' };
const words: Readonly<Record<VerdictResult, string>> = {
  pass: 'pass',
  fail: 'fail',
  unknown: 'unknown',
  'not-applicable': 'not applicable',
};
const order: readonly VerdictResult[] = ['pass', 'fail', 'unknown', 'not-applicable'];
const width = 110;
const idWidth = 7;
const margin = ' '.repeat(4 + idWidth);

export function auditText({ benchmark, cluster, machines, report, showsAll }: AuditText): string {
  const areas = auditAreas.flatMap(({ name, title }) => {
    const controls = report.controls.filter(({ area }) => area === name);
    if (controls.length === 0) return [];
    const shown = controls.filter(({ result }) => showsAll || result !== 'pass');
    return ['', `${title.padEnd(34)}${countsText(controls)}`, ...shown.flatMap(controlLines)];
  });
  const head = `${benchmark} · ${cluster} · ${machines} machines, the API, the asset folder`;
  return `${[head, ...areas, '', closing(report)].join('\n')}\n`;
}

function countsText(controls: readonly JudgedControl[]): string {
  const counts = countResults(controls);
  return order
    .filter((result) => counts[result] > 0)
    .map((result) => `${counts[result]} ${words[result]}`)
    .join(', ');
}

function controlLines(control: JudgedControl): readonly string[] {
  const { id, title, remedy, result } = control;
  const head = `  ${marks[result]} ${id.padEnd(idWidth)}${title}`;
  if (control.result === 'pass') return [head];
  const wrapped = (line: string): readonly string[] => wrapText(line, { width, margin });
  if (control.result === 'not-applicable') return [head, ...wrapped(`not applicable: ${control.reason}`)];
  const seen = control.result === 'unknown' ? [`unknown: ${control.reason}`] : findingLines(control.findings);
  return [head, ...seen.flatMap(wrapped), ...wrapped(`→ ${remedy}`)];
}

/** More of the same say nothing new; -o json has them all. */
const shownFindings = 6;

function findingLines(findings: readonly AuditFinding[]): readonly string[] {
  const more = findings.length - shownFindings;
  const shown = findings.slice(0, shownFindings).map(({ where, seen }) => `${where}: ${seen}`);
  return more > 0 ? [...shown, `and ${more} more`] : shown;
}

function closing({ controls, isWell }: AuditReport): string {
  const total = `${controls.length} controls: ${countsText(controls)}`;
  if (isWell) return total;
  const failing = controls.filter(({ result }) => result === 'fail' || result === 'unknown').map(({ id }) => id);
  return `${total}\nto mend: ${failing.join(', ')}`;
}
