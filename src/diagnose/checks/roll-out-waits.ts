// A pool is not where it is to be yet, and nobody says that anything is wrong.
import type { DiagnosisCheck, DiagnosisFinding } from '../check.ts';

export const rollOutWaits: DiagnosisCheck = {
  name: 'roll-out-waits',
  why: 'A roll-out that nothing stops is still under way, or waits until somebody resumes its pool.',
  looksAt: 'the target of each pool, and the phase of each of its nodes, from the API',
  certainty: 'waited',
  find: ({ api }) =>
    (api?.pools ?? []).flatMap(({ name: pool, state, nodes }): readonly DiagnosisFinding[] => {
      if (state === 'paused') {
        const behind = nodes.filter(({ phase }) => phase === 'queued').length;
        const sentence = `pool ${pool} is paused, and ${behind} of its nodes have an older configuration`;
        return [{ sentence, seen: `spec.paused of pool ${pool}`, next: { verb: 'machine-config resume', rest: pool } }];
      }
      return nodes
        .filter(({ phase, reason }) => phase !== 'done' && phase !== 'queued' && reason === null)
        .map(({ name, phase, waitsFor, since }) => ({
          machine: name,
          sentence: `${name} is ${phase}${waitsFor === null ? '' : ` and waits for ${waitsFor}`}`,
          seen: since === null ? `annotations of node ${name}` : `since ${since}`,
          next: { verb: 'machine-config status', rest: pool },
        }));
    }),
};
