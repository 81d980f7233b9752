// `firstlight diagnose [machine]`
import { missingText } from '../../contract/missing.ts';
import { diagnosisLines } from '../../diagnose/diagnosis-lines.ts';
import type { DiagnosisFacts } from '../../diagnose/facts.ts';
import { exitCodes } from '../../errors/exit-codes.ts';
import { platformErrors } from '../../platform/errors.ts';
import { alignColumns } from '../frame/columns.ts';
import { flag, optionalArgument } from '../frame/option.ts';
import { type CommandResult, defineVerb } from '../frame/verb.ts';

export const diagnoseVerb = defineVerb({
  description:
    'Looks at names, ports, tokens, disks, clocks, images and units of every machine, from inside, and at what the API says. Changes nothing and may be run at any time; create cluster does the same when nothing moves. The exit code is 0 when nothing was found.',
  args: { machine: optionalArgument('only what concerns this machine') },
  options: { checks: flag('--checks', 'list the checks instead: what each looks at, and why') },
  examples: ['firstlight diagnose', 'firstlight diagnose master-2 -o json', 'firstlight diagnose --checks'],
  run: async ({ host, global, args: { machine }, options, signal }) => {
    if (options.checks) return listChecks();
    const { explainStall } = await import('../../cluster/explain-stall.ts');
    const { mustFindCluster } = await import('../../cluster/find-cluster.ts');
    const { missingNow } = await import('../../cluster/cluster-missing.ts');
    const { observeCluster } = await import('../../cluster/observe-cluster.ts');
    const cluster = await mustFindCluster(host, global.dir);
    const missing = missingNow(await observeCluster(host, cluster));
    const { reasons, facts, dirOption } = await explainStall({ host, dir: global.dir, signal }, missing);
    if (machine !== undefined && facts.machines.length > 0 && facts.machines.every((one) => one.name !== machine)) {
      throw platformErrors.NO_MACHINE({ machine, cluster: cluster.name });
    }
    const about = reasons.filter((reason) => machine === undefined || reason.machine === machine);
    // Waiting is normal in a cluster that is being made, and is not a finding.
    const isWell = about.every(({ certainty }) => certainty === 'waited');
    const data = { machine: machine ?? null, reasons: about, facts: factsInWords(facts) };
    if (isWell && missing.length === 0) return { data, text: 'nothing was found, and nobody waits for anything\n' };
    const lines = diagnosisLines({ seen: missing.map(missingText), reasons: about, dirOption, closing: [] });
    return { data, text: `${lines.join('\n')}\n`, exit: isWell ? exitCodes.ok : exitCodes.infrastructure };
  },
});

/** The facts as scripts read them: what is missing as sentences. */
function factsInWords(facts: DiagnosisFacts): object {
  const machines = facts.machines.map(({ agent, ...machine }) => {
    const duties = agent?.duties.map((duty) => ({ ...duty, missing: duty.missing.map(missingText) }));
    return { ...machine, ...(agent === undefined ? {} : { agent: { ...agent, duties } }) };
  });
  return { ...facts, machines, missing: facts.missing.map(missingText) };
}

async function listChecks(): Promise<CommandResult> {
  const { checks } = await import('../../diagnose/checks.ts');
  const data = checks.map(({ name, why, looksAt, certainty }) => ({ name, why, looksAt, certainty }));
  const rows = data.map(({ name, looksAt }) => [name, looksAt]);
  return { data, text: alignColumns([['CHECK', 'LOOKS AT'], ...rows]) };
}
