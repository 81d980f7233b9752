// `firstlight bootkube stages`
import { bootkubeJournal } from '../../contract/bootstrap-paths.ts';
import { stages } from '../../bootkube/stages.ts';
import { lastRecords } from '../../workflow/engine.ts';
import { openJournal } from '../../workflow/journal.ts';
import type { CommandBody } from '../frame/verb.ts';

export const bootkubeStages: CommandBody = async ({ host }) => {
  const journal = await openJournal(host.files, bootkubeJournal);
  const records = lastRecords(journal.records);
  const data = stages.map(({ number, name, why }) => {
    const record = records.get(name);
    return { number, name, why, doneAt: record?.at, note: record?.note };
  });
  const line = (stage: (typeof data)[number]): string => {
    const mark = stage.doneAt === undefined ? ' ' : '✓';
    return `${mark} ${String(stage.number).padStart(2)}  ${stage.name.padEnd(20)} ${stage.note ?? stage.why}\n`;
  };
  return { data, text: data.map(line).join('') };
};
