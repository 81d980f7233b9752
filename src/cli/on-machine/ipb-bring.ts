// `firstlight ipb bring`: what `ipb adopt` runs over SSH on a machine that is no node yet.

import { option, text } from '../frame/option.ts';
import { firstlightVersion } from '../frame/program.ts';
import { defineVerb } from '../frame/verb.ts';
import { neededOption } from './needed-option.ts';

export const ipbBringVerb = defineVerb({
  description:
    'Does on this machine what the pod of an attempt does on a node: checks, reports, program, units, start.',
  options: {
    settings: option('--settings <path>', 'the settings of the attempt', text),
    program: option('--program <path>', 'the root of an image of this program', text),
  },
  examples: ['firstlight ipb bring --settings /var/tmp/ipb/settings.json --program /var/tmp/ipb/root -o json'],
  run: async ({ host, terminal, options, signal }) => {
    const path = neededOption('ipb bring', '--settings PATH', options.settings);
    const programRoot = neededOption('ipb bring', '--program PATH', options.program);
    const { bringHere } = await import('../../in-place/bring-attempt.ts');
    const { readSettingsFile } = await import('../../in-place/on-host/host-state.ts');
    const settings = await readSettingsFile(host, path);
    const version = `firstlight ${firstlightVersion}`;
    const log = (line: string): void => terminal.err(`${line}\n`);
    const spool = `${path}.spool`;
    const outcome = await bringHere(host, { settings, spool, programRoot, version, signal, log });
    const { attemptId } = settings;
    const state = outcome.isStarted ? 'works on' : 'has ended';
    return { data: outcome, text: `this machine ${state} attempt ${attemptId}\n` };
  },
});
