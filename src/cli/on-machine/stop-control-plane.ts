// `firstlight control-plane stop`: what firstlight-control-plane.service runs on a master that goes down.
import { defineVerb } from '../frame/verb.ts';

export const stopControlPlaneVerb = defineVerb({
  examples: ['firstlight control-plane stop'],
  run: async ({ host, terminal, signal }) => {
    const { endControlPlane } = await import('../../node/end-control-plane.ts');
    await endControlPlane(host, { signal, log: (line) => terminal.err(`${line}\n`) });
    return { data: {}, text: '' };
  },
});
