// `firstlight torcx bootstrap`
import { explainOutcome, outcomeData } from '../../torcx/explain-outcome.ts';
import type { TorcxFlags } from '../../torcx/settings.ts';
import { type CommandResult, defineVerb, type Invocation } from '../frame/verb.ts';
import { torcxBootstrapOptions } from './options.ts';

export const torcxBootstrapVerb = defineVerb({
  description:
    'Runs once on a new node, before its kubelet. It asks the cluster, or the files of the installer, which Kubernetes this is and which docker versions fit; it asks update_engine which OS boots next; it fetches the signed package lists of both OS versions, installs the best version for them and writes kubelet.env as its last act. A bucket that cannot be reached, or whose signature is wrong, fails the run, and the kubelet does not start.',
  options: torcxBootstrapOptions,
  examples: [
    'firstlight torcx bootstrap --upgrade-os=false',
    'firstlight torcx bootstrap --torcx-skip-setup=true',
    'firstlight torcx bootstrap --dry-run -o json',
  ],
  run: (invocation) => bootstrapNode(invocation, invocation.options),
});

export async function bootstrapNode({ host, signal, emit }: Invocation, flags: TorcxFlags): Promise<CommandResult> {
  const { torcxContext } = await import('../../torcx/context.ts');
  const { runTorcx } = await import('../../torcx/run-torcx.ts');
  const { readTorcxSettings } = await import('../../torcx/settings.ts');
  const settings = readTorcxSettings('bootstrap', flags, host.environment);
  const outcome = await runTorcx(torcxContext(host, settings, { signal, emit }));
  const exit = outcome.blockedBy?.exit;
  return { data: outcomeData(outcome), text: explainOutcome(outcome), ...(exit === undefined ? {} : { exit }) };
}
