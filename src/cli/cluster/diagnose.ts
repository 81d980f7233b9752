// `firstlight diagnose [machine]`
import { z } from 'zod';
import { explainStall } from '../../cluster/explain-stall.ts';
import { mustFindCluster } from '../../cluster/find-cluster.ts';
import { missingNow } from '../../cluster/cluster-missing.ts';
import { observeCluster } from '../../cluster/observe-cluster.ts';
import { checks } from '../../diagnose/checks.ts';
import { diagnosisLines } from '../../diagnose/words.ts';
import { exitCodes } from '../../errors/exit-codes.ts';
import { platformErrors } from '../../platform/errors.ts';
import type { CommandBody, CommandResult } from '../frame/verb.ts';
import { alignColumns } from '../machine/machine-table.ts';
import { missingText } from '../../contract/missing.ts';
import type { DiagnosisFacts } from '../../diagnose/facts.ts';

export const diagnoseCommand: CommandBody = async ({ host, global, args: [machine], options, signal }) => {
  if (z.looseObject({ checks: z.boolean().default(false) }).parse(options).checks) return listChecks();
  const cluster = await mustFindCluster(host, global.dir);
  const missing = missingNow(await observeCluster(host, cluster));
  const { reasons, facts, dirOption } = await explainStall({ host, dir: global.dir, signal }, missing);
  if (machine !== undefined && facts.machines.length > 0 && facts.machines.every((one) => one.name !== machine)) {
    throw platformErrors.NO_MACHINE({ machine, cluster: cluster.name });
  }
  const about = reasons.filter((reason) => machine === undefined || reason.machine === machine);
  // What is merely waited for is normal in a cluster that is being made, and no finding of its own.
  const isWell = about.every(({ certainty }) => certainty === 'waited');
  const data = { machine: machine ?? null, reasons: about, facts: factsInWords(facts) };
  if (isWell && missing.length === 0) return { data, text: 'nothing was found, and nobody waits for anything\n' };
  const lines = diagnosisLines({ seen: missing.map(missingText), reasons: about, dirOption, closing: [] });
  return { data, text: `${lines.join('\n')}\n`, exit: isWell ? exitCodes.ok : exitCodes.infrastructure };
};

/** The facts as scripts read them: what is missing as sentences. */
function factsInWords(facts: DiagnosisFacts): object {
  const machines = facts.machines.map(({ agent, ...machine }) => {
    const duties = agent?.duties.map((duty) => ({ ...duty, missing: duty.missing.map(missingText) }));
    return { ...machine, ...(agent === undefined ? {} : { agent: { ...agent, duties } }) };
  });
  return { ...facts, machines, missing: facts.missing.map(missingText) };
}

function listChecks(): CommandResult {
  const data = checks.map(({ name, why, looksAt, certainty }) => ({ name, why, looksAt, certainty }));
  const rows = data.map(({ name, looksAt }) => [name, looksAt]);
  return { data, text: alignColumns([['CHECK', 'LOOKS AT'], ...rows]) };
}
