// `firstlight bootkube stages`
import { bootkubeJournal } from '../../contract/bootstrap-paths.ts';
import { lastRecords } from '../../workflow/engine.ts';
import { defineVerb } from '../frame/verb.ts';

export const bootkubeStagesVerb = defineVerb({
  examples: ['firstlight bootkube stages', 'firstlight machine exec bootstrap -- firstlight bootkube stages'],
  run: async ({ host }) => {
    const { stages } = await import('../../bootkube/stages.ts');
    const { readJournal } = await import('../../workflow/journal.ts');
    const records = lastRecords(await readJournal(host.files, bootkubeJournal));
    const data = stages.map(({ number, name, why }) => {
      const record = records.get(name);
      return { number, name, why, doneAt: record?.at, note: record?.note };
    });
    const line = (stage: (typeof data)[number]): string => {
      const mark = stage.doneAt === undefined ? ' ' : '✓';
      return `${mark} ${String(stage.number).padStart(2)}  ${stage.name.padEnd(20)} ${stage.note ?? stage.why}\n`;
    };
    return { data, text: data.map(line).join('') };
  },
});
