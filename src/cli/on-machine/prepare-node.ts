// `firstlight machine-config prepare`: what firstlight-prepare.service runs on every machine at every boot.
import { defineVerb } from '../frame/verb.ts';

export const prepareNodeVerb = defineVerb({
  examples: ['firstlight machine-config prepare'],
  run: async ({ host }) => {
    const { prepareNode } = await import('../../machine-boot/prepare-node.ts');
    const { nodeName, nodeAddresses, files } = await prepareNode(host);
    return {
      data: { nodeName, nodeAddresses, files: files.map(({ path }) => path) },
      text: `prepared ${nodeName} with ${nodeAddresses.join(' and ')}\n`,
    };
  },
});
