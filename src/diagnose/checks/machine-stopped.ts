// A machine does not run.
import type { DiagnosisCheck } from '../check.ts';

export const machineStopped: DiagnosisCheck = {
  name: 'machine-stopped',
  why: 'A machine that does not run does nothing that anybody could wait for.',
  looksAt: 'processes of the machine on this host',
  certainty: 'measured',
  find: ({ machines }) =>
    machines
      .filter(({ isRunning }) => !isRunning)
      .map(({ name }) => ({
        machine: name,
        sentence: `${name} does not run`,
        seen: 'no process of it is on this host',
        next: { verb: 'machine start', rest: name },
      })),
};
