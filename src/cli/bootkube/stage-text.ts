// What is said about a stage, as text: before it runs what it is for and what will run, afterwards what came of it.
import { join } from 'node:path';
import { machineFolders } from '../../bootkube/context.ts';
import { originalWait } from '../../bootkube/original-commands.ts';
import { stageFolder } from '../../bootkube/render-stage.ts';
import type { StageFileReport, StageReport } from '../../bootkube/stage-report.ts';
import { wrapText } from '../../install-config/wrap-text.ts';

const margin = ' '.repeat(12);

export function explanationText(report: StageReport): string {
  const { number, name, why, original, here, rendersBy, inputs, outputs, checks } = report;
  return [
    `Stage ${number}: ${name}`,
    row('why', why),
    row('original', original),
    row('here', here),
    ...(rendersBy === undefined ? [] : [row('renders', rendersBy)]),
    row('reads', inputs.join(', ') || 'nothing'),
    row('writes', outputs.join(', ') || 'nothing'),
    row('validates', checks.join('\n') || 'nothing'),
    '',
  ].join('\n');
}

/** The outcome of the last run. `before`: when it was done the time before; the same if it had nothing to do. */
export function outcomeText(report: StageReport, before?: string): string {
  const { number, name, note, checks, files, doneAt } = report;
  if (doneAt === undefined) return `stage ${number} ${name}: not run yet\n`;
  if (doneAt === before) {
    return `stage ${number} ${name}: unchanged since ${doneAt}; what it reads and what it wrote are as they were\n`;
  }
  const written = files.filter(({ change }) => change !== 'same');
  const same = files.length - written.length;
  return [
    `stage ${number} ${name}: ${checks.length > 0 ? 'done and verified' : 'done'}${note === undefined ? '' : `, ${note}`}`,
    ...(files.length === 0
      ? []
      : [`  in ${join(machineFolders.render, stageFolder(report))}, on the bootstrap machine:`]),
    ...written.map(fileLine),
    ...(same === 0 ? [] : [`  = ${same} ${same === 1 ? 'file' : 'files'} as in the run before`]),
    ...written.flatMap(({ diff }) => (diff === undefined ? [] : ['', diff.trimEnd()])),
    ...checks.map((check) => `  ✓ ${check}`),
    '',
  ].join('\n');
}

/** Of a stage after the numbered ones, whose words in the original are those of its last wait. */
export function laterText({ name, why }: { readonly name: string; readonly why: string }): string {
  return `${name}\n${row('why', why)}\n${row('original', originalWait)}\n`;
}

const signs = { new: '+', changed: '~', same: '=', removed: '-' } as const;

function fileLine({ path, digest, change, secret }: StageFileReport): string {
  return `  ${signs[change]} ${path}  ${digest.slice(0, 12)}${secret === undefined ? '' : `  (${secret}: not shown)`}`;
}

const width = 80;

/** A line that is longer than a narrow terminal goes on below; a remark has lines of its own. Commands stay whole. */
function row(label: string, text: string): string {
  const lines = text
    .replace('   # ', '\n')
    .split('\n')
    .flatMap((line) =>
      /^\s|[\\{}$]/.test(line) ? [line] : wrapText(line, { width: width - margin.length, margin: '' }),
    );
  return `  ${label.padEnd(10)}${lines.join(`\n${margin}`)}`;
}
