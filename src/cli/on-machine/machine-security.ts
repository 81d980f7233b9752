// `firstlight machine-security`: what `firstlight audit` runs inside a machine.
import { defineVerb } from '../frame/verb.ts';

export const machineSecurityVerb = defineVerb({
  examples: ['firstlight machine-security -o json'],
  run: async ({ host }) => {
    const { lookAtSecurity } = await import('../../audit/inside/look-at-security.ts');
    const facts = await lookAtSecurity(host);
    return { data: facts, text: `${JSON.stringify(facts, null, 2)}\n` };
  },
});
