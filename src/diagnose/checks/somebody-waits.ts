// What an agent or a first boot waits for. It is shown only where no other check finds a reason.
import { missingText } from '../../contract/missing.ts';
import type { DiagnosisCheck } from '../check.ts';

export const somebodyWaits: DiagnosisCheck = {
  name: 'somebody-waits',
  why: 'Whoever waits says for what; where nothing else is found, it is the best that is known.',
  looksAt: 'duties of the agents, and the first boot of machines without one',
  certainty: 'waited',
  find: ({ machines }) =>
    machines.flatMap(({ name, agent, firstBoot }) => {
      const { url, reason } = firstBoot?.waitingFor ?? {};
      if (url !== undefined) {
        return [
          {
            machine: name,
            sentence: `${name} waits for ${url}${reason === undefined ? '' : `: ${reason}`}`,
            seen: 'its first boot says so',
            next: { verb: 'machine logs', rest: `${name} --unit firstlight-firstboot` },
          },
        ];
      }
      const waiting = (agent?.duties ?? []).filter(({ status }) => status === 'waiting');
      // A duty that only waits for another duty is explained by that one.
      const root = waiting.find(({ missing }) => missing.some(({ duty }) => duty === undefined));
      if (root === undefined) return [];
      return [
        {
          machine: name,
          sentence: `${name} waits for ${root.missing.map(missingText).join(', ')}`,
          seen: `its duty ${root.name}, since ${root.since}`,
          next: { verb: 'machine logs', rest: `${name} --unit firstlight-agent` },
        },
      ];
    }),
};
