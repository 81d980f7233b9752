// `firstlight machine-config-daemon firstboot-complete-machineconfig`: what a unit runs before the kubelet of a machine
// that was not made by our first boot. Units that were written for upstream call it as `machine-config-daemon`.
import { choiceOf, flag, option, optionWithDefault, text } from '../frame/option.ts';
import { defineVerb } from '../frame/verb.ts';

/** A unit that does not end keeps a shutdown for 90 s. */
const rebootLimitMs = 600_000;

export const completeFirstBootVerb = defineVerb({
  options: {
    machineconfigFile: option(
      '--machineconfig-file <path>',
      'the MachineConfig to apply (default: the served one)',
      text,
    ),
    rootMount: optionWithDefault(
      '--root-mount <path>',
      'where the root of the machine is; this program runs on the machine itself',
      choiceOf(['/']),
      '/',
    ),
    persistNics: flag('--persist-nics', 'name network devices for ever; machines of this platform have one'),
  },
  examples: [
    'firstlight machine-config-daemon firstboot-complete-machineconfig',
    'firstlight machine-config-daemon firstboot-complete-machineconfig --root-mount=/',
    'firstlight machine-config-daemon firstboot-complete-machineconfig --machineconfig-file /run/machine-config.json',
  ],
  run: async ({ host, terminal, options, signal }) => {
    if (options.persistNics) return { data: { status: 'complete' }, text: 'nothing to do\n' };
    const { completeFirstBoot } = await import('../../config-daemon/complete-first-boot.ts');
    const completion = await completeFirstBoot(host, options.machineconfigFile);
    if (completion.status === 'complete') return { data: completion, text: 'nothing is left to do\n' };
    for (const path of completion.removed) terminal.err(`${path} left with the former configuration\n`);
    for (const path of completion.setAside) terminal.err(`${path} was written by nobody's configuration: set aside\n`);
    const { reboot } = await import('../../config-daemon/post-actions.ts');
    await reboot(host);
    // Units that are ordered after this one must not start before the reboot, which ends this process.
    await host.clock.sleep(rebootLimitMs, signal).catch(() => undefined);
    return { data: completion, text: `the machine has ${completion.config} and reboots\n` };
  },
});
