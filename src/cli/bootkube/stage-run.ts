// Stages as a person runs them by hand: explained, then run, shown, or run after a question. For `bootkube stage`,
// `bootkube render-…`, `bootkube render-all` and `bootkube start-bootstrap`.
import { join } from 'node:path';
import { type BootkubeContext, loadContext } from '../../bootkube/context.ts';
import { bootkubeErrors } from '../../bootkube/errors.ts';
import { type NumberedStage, stageFolder, stageInContainer } from '../../bootkube/render-stage.ts';
import { renderStages } from '../../bootkube/render-stages.ts';
import { runBootkubeStages } from '../../bootkube/run-service.ts';
import { secrecyOf } from '../../bootkube/secret-outputs.ts';
import { type StageReport, stageReport } from '../../bootkube/stage-report.ts';
import { stageNumbered } from '../../bootkube/stages.ts';
import type { ValuesOf } from '../frame/option.ts';
import type { CommandResult, Invocation } from '../frame/verb.ts';
import type { stageOptions } from './named-stages.ts';
import { explanationText, outcomeText } from './stage-text.ts';

/** A stage that renders takes less than a second; a person should not wait for one that waits for machines. */
const patienceMs = 10_000;

export async function renderAllStages({ host, emit, signal, terminal }: Invocation): Promise<CommandResult> {
  const context = await loadContext(host, emit);
  const purpose = 'firstlight bootkube render-all';
  const reports: StageReport[] = [];
  for (const stage of renderStages) {
    const { doneAt, ...known } = await stageReport(context, stage);
    terminal.err(explanationText(known));
    await runBootkubeStages({ context, stages: [stage], emit, signal, purpose, patienceMs });
    const report = await stageReport(context, stage);
    terminal.err(`${outcomeText(report, doneAt)}\n`);
    reports.push(report);
  }
  return { data: { stages: reports }, text: `${reports.length} stages rendered and verified\n` };
}

export async function runNumberedStage(
  invocation: Invocation<unknown, ValuesOf<typeof stageOptions>>,
  { number, purpose }: { readonly number: number; readonly purpose: string },
): Promise<CommandResult> {
  const { host, emit, signal, terminal, options } = invocation;
  const stage = options.inContainer ? numberedInContainer(number) : stageNumbered(number);
  const context = await loadContext(host, emit);
  const known = await stageReport(context, stage);
  if (options.show) return shown(context, known);
  terminal.err(explanationText(known));
  if (options.step) {
    const answer = await terminal.ask('Run it? [Y/n] ', signal);
    if (answer === undefined || /^n/i.test(answer)) return { data: { ran: false }, text: 'not run\n' };
  }
  await runBootkubeStages({ context, stages: [stage], emit, signal, purpose, patienceMs });
  const report = await stageReport(context, stage);
  const ran = report.doneAt !== known.doneAt;
  return { data: { stage: stage.name, ran, report }, text: outcomeText(report, known.doneAt) };
}

function numberedInContainer(number: number): NumberedStage {
  const stage = renderStages.find((each) => each.number === number);
  if (stage !== undefined) return stageInContainer(stage);
  const known = renderStages.map((each) => String(each.number));
  throw bootkubeErrors.NOT_RENDERED_HERE({ stage: `stage ${number}`, known });
}

/** With the content of its files, as far as it may be shown. */
async function shown({ host, folders }: BootkubeContext, report: StageReport): Promise<CommandResult> {
  const folder = join(folders.render, stageFolder(report));
  const files = await Promise.all(
    report.files.map(async (file) => {
      const content = Buffer.from((await host.files.readIfPresent(join(folder, file.path))) ?? '').toString('utf8');
      const secret = file.secret ?? secrecyOf(file.path, [content]);
      return { ...file, content: secret === undefined ? content : `[${secret}: not shown]` };
    }),
  );
  const text = files.map(({ path, content }) => `--- ${path}\n${content}\n`).join('');
  return { data: { ...report, files }, text: `${explanationText(report)}${outcomeText(report)}${text}` };
}
