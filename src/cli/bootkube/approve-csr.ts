// `firstlight approve-csr`: what approve-csr.service runs on the bootstrap machine.
import { defineVerb } from '../frame/verb.ts';

export const approveCsrVerb = defineVerb({
  examples: ['firstlight approve-csr'],
  run: async (invocation) => {
    const { admitMachines } = await import('../../bootkube/admit-machines.ts');
    return admitMachines(invocation);
  },
});
