// What can go wrong while a machine configures itself.
import { exitCodes } from '../errors/exit-codes.ts';
import { errorTable } from '../errors/firstlight-error.ts';

export const firstBootErrors = errorTable('FIRSTBOOT', {
  IGNITION: {
    message: (e: { stage: string; reason: string }) => `Ignition's ${e.stage} stage failed: ${e.reason}`,
    hint: 'The Ignition config of this machine is wrong; journalctl -u firstlight-firstboot has every line.',
    means: 'Ignition gave up on the config of a machine. What it cannot reach it retries for ever instead.',
    exit: exitCodes.infrastructure,
  },
  SYSTEMCTL: {
    message: (e: { args: string; reason: string }) => `systemctl ${e.args} failed: ${e.reason}`,
    hint: 'journalctl -b on the machine shows what systemd made of the units.',
    means: 'systemd refused units that Ignition had written.',
    exit: exitCodes.infrastructure,
  },
});
