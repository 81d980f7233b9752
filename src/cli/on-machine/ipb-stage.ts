// `firstlight ipb stage`: what the pod of an attempt, or the workstation by SSH, runs on the host after the checks.
import { option, text } from '../frame/option.ts';
import { defineVerb } from '../frame/verb.ts';
import { neededOption } from './needed-option.ts';

export const ipbStageVerb = defineVerb({
  description: 'Puts program, settings and units of an attempt on this machine. It starts nothing.',
  options: {
    settings: option('--settings <path>', 'the settings of the attempt', text),
    program: option('--program <path>', 'the root of an image of this program', text),
  },
  examples: ['firstlight ipb stage --settings /run/ipb/settings.json --program /proc/4711/root'],
  run: async ({ host, options }) => {
    const path = neededOption('ipb stage', '--settings PATH', options.settings);
    const program = neededOption('ipb stage', '--program PATH', options.program);
    const { readSettingsFile } = await import('../../in-place/on-host/host-state.ts');
    const { stageAttempt } = await import('../../in-place/stage-attempt.ts');
    const settings = await readSettingsFile(host, path);
    await stageAttempt(host, settings, program);
    const { attemptId } = settings;
    return { data: { attemptId }, text: `attempt ${attemptId} is on this machine\n` };
  },
});
