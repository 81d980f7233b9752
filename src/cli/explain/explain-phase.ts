// `firstlight explain phase [NAME]`: everything is read from the table that host and controller act by.
import { inPlacePhases } from '../../contract/in-place.ts';
import { type PhaseFacts, type PhaseOwner, phaseTable } from '../../in-place/phases.ts';
import { alignColumns } from '../frame/columns.ts';
import { cliErrors } from '../frame/errors.ts';
import { nearestName } from '../frame/nearest-name.ts';
import type { CommandResult } from '../frame/verb.ts';

const owners: Readonly<Record<PhaseOwner, string>> = {
  person: 'a person',
  controller: 'the controller, in the agent of a master',
  pod: 'the pod on the node',
  host: 'the unit on the host',
};

export function explainPhase(name: string | undefined): CommandResult {
  if (name === undefined) {
    const data = inPlacePhases.map((phase) => ({ phase, ...phaseTable[phase] }));
    return { data, text: alignColumns(data.map(({ phase, owner, why }) => [phase, owner, why])) };
  }
  const phase = inPlacePhases.find((one) => one.toLowerCase() === name.toLowerCase());
  if (phase === undefined) {
    const nearest = nearestName(name, inPlacePhases);
    const reason = `there is no phase ${name}${nearest === undefined ? '' : `; did you mean ${nearest}?`}`;
    throw cliErrors.USAGE({ reason, command: 'firstlight explain phase' });
  }
  const facts = phaseTable[phase];
  const rows = [
    ['why', facts.why],
    ['ended by', owners[facts.owner]],
    ['then', facts.next.length === 0 ? 'nothing: the attempt is over' : facts.next.join(', ')],
    ['limit', limitText(facts)],
    ['kubelet', facts.holdsKubelet ? 'does not run, whatever is cut off' : 'may run'],
    ...(facts.only === undefined ? [] : [['only', facts.only]]),
  ];
  return { data: { phase, ...facts }, text: `${phase}\n\n${alignColumns(rows, '  ')}` };
}

function limitText({ limitMs, onLimit }: PhaseFacts): string {
  if (limitMs === undefined || onLimit === undefined) return 'none';
  return `${limitMs / 60_000} min, then ${onLimit.phase} (${onLimit.code})`;
}
