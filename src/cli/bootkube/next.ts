// `firstlight bootkube next`
import type { StageReport } from '../../bootkube/stage-report.ts';
import { goingOnLines, pausePointTitle, stagesOfPoint } from '../../contract/bootstrap-pause.ts';
import { bootkubeStageNames } from '../../contract/bootstrap-stages.ts';
import { type CommandResult, defineVerb, type Invocation } from '../frame/verb.ts';
import { onBootstrap, typedDirOption } from './on-bootstrap.ts';

export const bootkubeNextVerb = defineVerb({
  description:
    'Explains the stage before which the bootstrap is held, lets bootkube.service run it, and shows what came of it: files, differences, checks. Then the bootstrap is held before the following one. Killed, it changes nothing: the pause stays where it is.',
  examples: ['firstlight bootkube next', 'firstlight bootkube next --dir lab'],
  run: async (invocation) => onBootstrap(invocation, ['bootkube', 'next'], () => next(invocation)),
});

/** How to see what is in the files. */
function lookText({ number, files }: StageReport, invocation: Invocation): string {
  if (files.length === 0) return '';
  return `what is in them: firstlight bootkube stage ${number} --show${typedDirOption(invocation)}\n`;
}

async function next(invocation: Invocation): Promise<CommandResult> {
  const { host, emit, terminal } = invocation;
  const { nextPoint, runNextPoint } = await import('../../bootkube/go-on.ts');
  const { explanationText, laterText, outcomeText } = await import('./stage-text.ts');
  const { stageReport } = await import('../../bootkube/stage-report.ts');
  const { stageNumbered, laterStageNamed } = await import('../../bootkube/stages.ts');
  const { loadContext } = await import('../../bootkube/context.ts');
  const point = await nextPoint(invocation);
  const context = await loadContext(host, emit);
  const number = bootkubeStageNames.indexOf(point) + 1;
  const stage = number === 0 ? undefined : stageNumbered(number);
  const later = stagesOfPoint(point).flatMap((name) => laterStageNamed(name) ?? []);
  const known = stage === undefined ? undefined : await stageReport(context, stage);
  terminal.err(known === undefined ? later.map(laterText).join('') : explanationText(known));
  const following = await runNextPoint(invocation, point);
  const report = stage === undefined ? undefined : await stageReport(context, stage);
  const held =
    following === undefined
      ? 'the masters carry the cluster; nothing is held any more\n'
      : `paused before ${pausePointTitle(following)}: ${goingOnLines(typedDirOption(invocation)).join('\n  ')}\n`;
  return {
    data: { ran: point, ...(report === undefined ? {} : { stage: report }), pausedBefore: following ?? null },
    text: `${report === undefined ? `${point}: done\n` : `${outcomeText(report, known?.doneAt)}${lookText(report, invocation)}`}${held}`,
  };
}
