// `firstlight version`
import { firstlightVersion } from '../frame/program.ts';
import { defineVerb } from '../frame/verb.ts';

export const versionVerb = defineVerb({
  examples: ['firstlight version', 'firstlight version -o json'],
  run: async ({ host }) => {
    const { nodePath, architecture } = host.environment;
    return {
      data: { firstlight: firstlightVersion, architecture, node: nodePath },
      text: `firstlight ${firstlightVersion}\n`,
    };
  },
});
