// `firstlight bootkube stages`: reads only, so it may be typed at any moment of a bootstrap.
import { bootkubeJournal } from '../../contract/bootstrap-paths.ts';
import { goingOnLines, pausedText, pausePointTitle } from '../../contract/bootstrap-pause.ts';
import { lastRecords } from '../../workflow/engine.ts';
import { flag } from '../frame/option.ts';
import { type CommandResult, defineVerb, type Invocation } from '../frame/verb.ts';
import { onBootstrap, typedDirOption } from './on-bootstrap.ts';

export const bootkubeStagesVerb = defineVerb({
  options: {
    show: flag('--show', 'what each is for, what the original runs there, what it wrote, what was validated'),
  },
  examples: ['firstlight bootkube stages', 'firstlight bootkube stages --show'],
  run: async (invocation) => {
    const { show } = invocation.options;
    const words = ['bootkube', 'stages', ...(show ? ['--show'] : [])];
    return onBootstrap(invocation, words, () => (show ? shownStages(invocation) : listedStages(invocation)));
  },
});

async function listedStages(invocation: Invocation): Promise<CommandResult> {
  const { host } = invocation;
  const { stages } = await import('../../bootkube/stages.ts');
  const { readJournal } = await import('../../workflow/journal.ts');
  const { bootstrapPlace } = await import('../../bootkube/go-on.ts');
  const records = lastRecords(await readJournal(host.files, bootkubeJournal));
  const { pause, held, progress } = await bootstrapPlace(host);
  const data = stages.map(({ number, name, why }) => {
    const record = records.get(name);
    return { number, name, why, doneAt: record?.at, note: record?.note };
  });
  const line = (stage: (typeof data)[number]): string => {
    const mark = stage.doneAt === undefined ? ' ' : '✓';
    return `${mark} ${String(stage.number).padStart(2)}  ${stage.name.padEnd(20)} ${stage.note ?? firstSentence(stage.why)}\n`;
  };
  const holding =
    held !== undefined
      ? `${pausedText(progress?.stage ?? held)}: ${goingOnLines(typedDirOption(invocation)).join('\n  ')}\n`
      : pause === undefined
        ? ''
        : `it will be held before ${pausePointTitle(pause.before)}\n`;
  return { data, text: `${data.map(line).join('')}${holding}` };
}

/** The list has one line for each. */
function firstSentence(text: string): string {
  return text.split(/[.:;](?: |$)/, 1)[0] ?? text;
}

async function shownStages({ host, emit }: Invocation): Promise<CommandResult> {
  const { stages } = await import('../../bootkube/stages.ts');
  const { loadContext } = await import('../../bootkube/context.ts');
  const { stageReport } = await import('../../bootkube/stage-report.ts');
  const { explanationText, outcomeText } = await import('./stage-text.ts');
  const context = await loadContext(host, emit);
  const data = await Promise.all(stages.map((stage) => stageReport(context, stage)));
  return { data, text: data.map((report) => `${explanationText(report)}${outcomeText(report)}`).join('\n') };
}
