// `firstlight torcx hook-pre`
import { explainOutcome, outcomeData } from '../../torcx/explain-outcome.ts';
import { defineVerb } from '../frame/verb.ts';
import { torcxHookOptions } from './options.ts';

export const torcxHookPreVerb = defineVerb({
  description:
    'Runs in the cluster on a node that is about to be rebooted into an OS update. It installs the docker that fits for the next OS, removes stores that no OS boots any more, and sets the annotation for which the update operator waits. It never reboots.',
  options: torcxHookOptions,
  examples: ['firstlight torcx hook-pre --node-annotation=example.com/torcx-ok --sleep=604800'],
  run: async ({ host, signal, emit, options }) => {
    const { torcxContext } = await import('../../torcx/context.ts');
    const { copyToSyslog, runTorcx } = await import('../../torcx/run-torcx.ts');
    const { readTorcxSettings } = await import('../../torcx/settings.ts');
    const settings = readTorcxSettings('hook', options, host.environment);
    const prepare = async () => {
      await using syslog = copyToSyslog(host, emit);
      return await runTorcx(torcxContext(host, settings, { signal, emit: syslog.emit }));
    };
    const outcome = await prepare();
    if (settings.sleepSeconds > 0 && outcome.status === 'done') {
      // The pod belongs to a DaemonSet: its end would only start it again. A signal is the normal end.
      while (!signal.aborted) await host.clock.sleep(settings.sleepSeconds * 1000, signal).catch(() => {});
    }
    const exit = outcome.blockedBy?.exit;
    return { data: outcomeData(outcome), text: explainOutcome(outcome), ...(exit === undefined ? {} : { exit }) };
  },
});
