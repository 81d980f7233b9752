// `firstlight torcx hook-pre`
import { torcxContext } from '../../torcx/context.ts';
import { explainOutcome, outcomeData } from '../../torcx/explain-outcome.ts';
import { copyToSyslog, runTorcx, type TorcxOutcome } from '../../torcx/run-torcx.ts';
import { readTorcxSettings } from '../../torcx/settings.ts';
import type { CommandBody, Invocation } from '../frame/verb.ts';

export const torcxHookPre: CommandBody = async (invocation) => {
  const { host, signal, options } = invocation;
  const settings = readTorcxSettings('hook', options, host.environment);
  const outcome = await prepare(invocation);
  if (settings.sleepSeconds > 0 && outcome.status === 'done') {
    // The pod belongs to a DaemonSet: ending would only start it again. Being asked to stop is the normal end.
    while (!signal.aborted) await host.clock.sleep(settings.sleepSeconds * 1000, signal).catch(() => {});
  }
  const exit = outcome.blockedBy?.exit;
  return { data: outcomeData(outcome), text: explainOutcome(outcome), ...(exit === undefined ? {} : { exit }) };
};

async function prepare({ host, signal, emit, options }: Invocation): Promise<TorcxOutcome> {
  await using syslog = copyToSyslog(host, emit);
  const settings = readTorcxSettings('hook', options, host.environment);
  return await runTorcx(torcxContext(host, settings, { signal, emit: syslog.emit }));
}
