// `firstlight torcx bootstrap`
import { torcxContext } from '../../torcx/context.ts';
import { explainOutcome, outcomeData } from '../../torcx/explain-outcome.ts';
import { runTorcx } from '../../torcx/run-torcx.ts';
import { readTorcxSettings } from '../../torcx/settings.ts';
import type { CommandBody } from '../frame/verb.ts';

export const torcxBootstrap: CommandBody = async ({ host, signal, emit, options }) => {
  const settings = readTorcxSettings('bootstrap', options, host.environment);
  const outcome = await runTorcx(torcxContext(host, settings, { signal, emit }));
  const exit = outcome.blockedBy?.exit;
  return { data: outcomeData(outcome), text: explainOutcome(outcome), ...(exit === undefined ? {} : { exit }) };
};
