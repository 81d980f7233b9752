// One stage of the bootstrap as a user runs it: the stage is explained, then run, shown, or run after a question.
// For `bootkube stage`, `bootkube render-…` and `bootkube start-bootstrap`.
import { join } from 'node:path';
import { type BootkubeContext, loadContext } from '../../bootkube/context.ts';
import { originalCommands } from '../../bootkube/original-commands.ts';
import { type NumberedStage, type RenderStage, stageFolder, treeDigests } from '../../bootkube/render-stage.ts';
import { renderStages } from '../../bootkube/render-stages.ts';
import { runBootkubeStages } from '../../bootkube/run-service.ts';
import { stageNumbered } from '../../bootkube/stages.ts';
import type { ValuesOf } from '../frame/option.ts';
import type { CommandResult, Invocation } from '../frame/verb.ts';
import type { stageOptions } from './named-stages.ts';

/** A stage that renders takes less than a second; a person should not wait for one that waits for machines. */
const patienceMs = 10_000;

export async function renderAllStages({ host, emit, signal, terminal }: Invocation): Promise<CommandResult> {
  const context = await loadContext(host, emit);
  for (const stage of renderStages) terminal.err(`${explanation(context, stage)}\n`);
  const purpose = 'firstlight bootkube render-all';
  await runBootkubeStages({ context, stages: renderStages, emit, signal, purpose, patienceMs });
  return {
    data: { stages: renderStages.map((stage) => stage.name) },
    text: `${renderStages.length} stages rendered, ${renderStages.filter(isVerified).length} of them verified\n`,
  };
}

export async function runNumberedStage(
  { host, emit, signal, terminal, options }: Invocation<unknown, ValuesOf<typeof stageOptions>>,
  number: number,
): Promise<CommandResult> {
  const stage = stageNumbered(number);
  const context = await loadContext(host, emit);
  if (options.show) return shown(context, stage);
  terminal.err(explanation(context, stage));
  if (options.step) {
    const answer = await terminal.ask('Run it? [Y/n] ', signal);
    if (answer === undefined || /^n/i.test(answer)) return { data: { ran: false }, text: 'not run\n' };
  }
  const purpose = 'firstlight bootkube stage';
  await runBootkubeStages({ context, stages: [stage], emit, signal, purpose, patienceMs });
  const outcome = isVerified(stage) ? 'done and verified' : 'done';
  return { data: { stage: stage.name, ran: true }, text: `stage ${stage.number} ${stage.name}: ${outcome}\n` };
}

/** Whether something is checked after the stage has run. */
function isVerified({ verify }: NumberedStage): boolean {
  return verify.length > 0;
}

function explanation({ release }: BootkubeContext, stage: NumberedStage): string {
  const { variable } = stage as Partial<RenderStage>;
  const image = variable === undefined ? undefined : release.imageVariables[variable];
  return [
    `Stage ${stage.number}: ${stage.name}`,
    `  why       ${stage.why}`,
    `  original  ${(originalCommands[stage.number] ?? '').replaceAll('\n', '\n            ')}`,
    ...(image === undefined ? [] : [`  here      built-in renderer; ${variable} is ${image.reference} (${image.why})`]),
    `  reads     ${stage.inputs.join(', ') || 'nothing'}`,
    `  writes    ${stage.outputs.join(', ') || 'nothing'}`,
    '',
  ].join('\n');
}

async function shown(context: BootkubeContext, stage: NumberedStage): Promise<CommandResult> {
  const folder = join(context.folders.render, stageFolder(stage));
  const paths = Object.keys(await treeDigests(context.host.files, folder)).filter((path) => path !== '');
  const files = await Promise.all(
    paths.map(async (path) => ({ path, content: await shownContent(context, join(folder, path)) })),
  );
  const text = files.map(({ path, content }) => `--- ${path}\n${content}\n`).join('');
  const { number, name, why, inputs, outputs } = stage;
  return { data: { number, name, why, inputs, outputs, files }, text: `${explanation(context, stage)}${text}` };
}

async function shownContent({ host }: BootkubeContext, path: string): Promise<string> {
  if (path.endsWith('.key') || path.includes('kubeconfig')) return '[a secret, not shown]';
  return host.files.readText(path);
}
