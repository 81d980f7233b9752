// `firstlight first-boot`: what firstlight-firstboot.service runs inside a machine.
import { defineVerb } from '../frame/verb.ts';

export const firstBootVerb = defineVerb({
  examples: ['firstlight first-boot'],
  run: async ({ host, terminal, signal }) => {
    const { runFirstBoot } = await import('../../machine-boot/first-boot.ts');
    const status = await runFirstBoot(host, { signal, log: (line) => terminal.err(`${line}\n`) });
    return { data: status, text: `configured in ${status.tookMs ?? 0} ms\n` };
  },
});
