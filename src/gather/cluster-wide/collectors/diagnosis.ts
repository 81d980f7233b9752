// Why nothing moves: the checks of `firstlight diagnose`, the likeliest reason first.
import { diagnosisLines } from '../../../diagnose/diagnosis-lines.ts';
import type { ClusterCollector } from '../cluster-collector.ts';

export const diagnosisFile = 'diagnosis.json';

export const diagnosisCollector: ClusterCollector = {
  name: 'diagnosis',
  takes: 'what keeps the cluster from going on, the likeliest reason first, as diagnose finds it',
  collect: async ({ diagnose }, contents) => {
    const diagnosis = await diagnose();
    contents.add(diagnosisFile, JSON.stringify(diagnosis));
    const { reasons, missing } = diagnosis;
    const lines = diagnosisLines({ seen: missing, reasons, dirOption: '', closing: [] });
    contents.add('diagnosis.txt', `${lines.join('\n')}\n`);
  },
};
