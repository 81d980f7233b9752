// What the programs of Firstlight write about themselves: how far they are, what they wait for, and when things
// happened.
import { basename } from 'node:path';
import { agentStateFile } from '../../../contract/agent-state.ts';
import { bootkubeJournal, renderLogFolder } from '../../../contract/bootstrap-paths.ts';
import { progressFile } from '../../../contract/bootstrap-progress.ts';
import { firstBootStatusPath } from '../../../contract/first-boot-status.ts';
import { serviceRecordsFolder } from '../../../contract/machine-paths.ts';
import { timelineFile } from '../../../contract/timeline.ts';
import type { MachineCollector } from '../machine-collector.ts';

export const recordsCollector: MachineCollector = {
  name: 'records',
  takes: 'the records of bootkube and its stages, the state of first boot and agent, the timeline',
  parts: [
    {
      kind: 'files',
      patterns: [`${serviceRecordsFolder}/*.json`],
      place: (path) => `services/${basename(path)}`,
    },
    { kind: 'files', patterns: [`${renderLogFolder}/*.log`], place: (path) => `services/render/${basename(path)}` },
    {
      kind: 'files',
      patterns: [progressFile, firstBootStatusPath, agentStateFile, timelineFile],
      place: (path) => `state/${basename(path)}`,
    },
    { kind: 'files', patterns: [bootkubeJournal], place: () => 'state/bootkube-journal' },
  ],
};
