// Ignition has failed on a machine.
import type { DiagnosisCheck } from '../check.ts';

export const firstBootFailed: DiagnosisCheck = {
  name: 'first-boot-failed',
  why: 'Ignition gave up, and no service starts on a machine that nobody configured.',
  looksAt: 'what the first boot says about itself',
  certainty: 'measured',
  find: ({ machines }) =>
    machines.flatMap(({ name, firstBoot }) =>
      firstBoot?.phase === 'failed'
        ? [
            {
              machine: name,
              sentence: `Ignition could not configure ${name}: ${firstBoot.reason ?? 'it does not say why'}`,
              seen: `its first boot failed at ${firstBoot.updatedAt}`,
              next: { verb: 'machine logs', rest: `${name} --unit firstlight-firstboot` },
            },
          ]
        : [],
    ),
};
