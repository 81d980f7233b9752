// `firstlight ipb preflight`: what the pod of an attempt, or the workstation by SSH, runs on the host.
import { option, text } from '../frame/option.ts';
import { defineVerb } from '../frame/verb.ts';
import { neededOption } from './needed-option.ts';

export const ipbPreflightVerb = defineVerb({
  description: 'Tries out everything that an attempt will need, and changes nothing on this machine.',
  options: {
    settings: option('--settings <path>', 'the settings of the attempt', text),
    result: option('--result <path>', 'write the results of every round there, as JSON', text),
  },
  examples: ['firstlight ipb preflight --settings /run/ipb/settings.json -o json'],
  run: async ({ host, options, signal }) => {
    const path = neededOption('ipb preflight', '--settings PATH', options.settings);
    const { runPreflight } = await import('../../in-place/preflight/run-preflight.ts');
    const { readSettingsFile } = await import('../../in-place/on-host/host-state.ts');
    const settings = await readSettingsFile(host, path);
    const { result } = options;
    const results = await runPreflight(host, settings, signal, {
      onRound: async (round, isLast) => {
        if (result === undefined) return;
        const content = `${JSON.stringify({ isLast, results: round })}\n`;
        await host.files.write(result, content, { mode: 0o600, isDurable: false });
      },
    });
    return { data: results, text: results.map(({ outcome, message }) => `${outcome}\t${message}\n`).join('') };
  },
});
