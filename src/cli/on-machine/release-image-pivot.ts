// `firstlight release-image-pivot`: what release-image-pivot.service runs on a bootstrap machine that booted another
// release than its config names.
import { defineVerb } from '../frame/verb.ts';

export const releaseImagePivotVerb = defineVerb({
  examples: ['firstlight release-image-pivot'],
  run: async ({ host, terminal, signal }) => {
    const { pivotRelease } = await import('../../machine-boot/release-pivot/pivot-release.ts');
    const outcome = await pivotRelease(host, { signal, log: (line) => terminal.err(`${line}\n`) });
    return { data: outcome, text: `${outcome.said}\n` };
  },
});
