// A person holds the bootstrap.
import { pausePointTitle } from '../../contract/bootstrap-pause.ts';
import type { DiagnosisCheck } from '../check.ts';

export const bootstrapHeld: DiagnosisCheck = {
  name: 'bootstrap-held',
  why: 'A bootstrap that is held goes on when a person says so; what later stages bring is missing until then.',
  looksAt: 'what bootkube reports on the bootstrap machine',
  certainty: 'measured',
  find: ({ heldBefore }) =>
    heldBefore === undefined
      ? []
      : [
          {
            sentence: `the bootstrap is held before ${pausePointTitle(heldBefore)}, and goes on when a person says so`,
            seen: 'bootkube.service says that it is paused',
            next: { verb: 'bootkube next', rest: '' },
          },
        ],
};
