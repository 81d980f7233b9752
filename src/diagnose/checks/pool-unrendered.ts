// The MachineConfigs of a pool give no configuration, so none of its nodes moves.
import type { DiagnosisCheck } from '../check.ts';

export const poolUnrendered: DiagnosisCheck = {
  name: 'pool-unrendered',
  why: 'A pool whose MachineConfigs cannot be rendered keeps the configuration that it has, whatever else is changed.',
  looksAt: 'condition RenderDegraded of the pools, from the API',
  certainty: 'reported',
  find: ({ api }) =>
    (api?.pools ?? []).flatMap(({ name, renderProblem }) =>
      renderProblem === null
        ? []
        : [
            {
              sentence: `the MachineConfigs of pool ${name} cannot be rendered: ${renderProblem}`,
              seen: `condition RenderDegraded of pool ${name}`,
              next: { verb: 'machine-config status', rest: name },
            },
          ],
    ),
};
