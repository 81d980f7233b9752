// `firstlight first-boot`: what firstlight-firstboot.service runs inside a machine.
import { runFirstBoot } from '../../machine-boot/first-boot.ts';
import type { CommandBody } from '../frame/verb.ts';

export const firstBoot: CommandBody = async ({ host, terminal, signal }) => {
  const status = await runFirstBoot(host, { signal, log: (line) => terminal.err(`${line}\n`) });
  return { data: status, text: `configured in ${status.tookMs ?? 0} ms\n` };
};
