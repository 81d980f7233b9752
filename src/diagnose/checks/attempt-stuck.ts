// An attempt of the in-place bootstrapper does not move, or ended and left its node cordoned.
import { inPlaceNamespace, inPlaceUnits } from '../../contract/in-place.ts';
import { type AttemptView, endReason } from '../../in-place/attempt-view.ts';
import { phaseTable } from '../../in-place/phases.ts';
import type { DiagnosisCheck, DiagnosisFinding, NextCommand } from '../check.ts';
import type { DiagnosedAttempt } from '../facts.ts';

export const attemptStuck: DiagnosisCheck = {
  name: 'attempt-stuck',
  why: 'An attempt that waits, or that failed, keeps its node out of use; a run of its pool stops there.',
  looksAt: 'the newest attempt of each node, from the API',
  certainty: 'reported',
  find: ({ api }) => (api?.attempts ?? []).flatMap(findingOf),
};

function findingOf({ attempt, stillMs, isCordoned }: DiagnosedAttempt): readonly DiagnosisFinding[] {
  const { node, phase, isEnded } = attempt;
  if (isEnded) {
    if (phase === 'Succeeded' || !isCordoned) return [];
    return [
      {
        machine: node,
        sentence: `${node} stays cordoned: its attempt in place ended with ${phase}: ${endReason(attempt)}`,
        seen: `attempt ${attempt.attemptId}, ${attempt.failure?.code ?? phase} at ${attempt.movedAt}`,
        next: { verb: 'ipb history', rest: node },
      },
    ];
  }
  if (stillMs === undefined) return [];
  const wait = attempt.waitsFor === null ? '' : ` and waits for ${attempt.waitsFor}`;
  return [
    {
      machine: node,
      sentence: `the attempt in place on ${node} does not move: it is in phase ${phase}${wait}`,
      seen: `nothing new for ${Math.round(stillMs / 1000)} s; the last thing that it said: ${attempt.said ?? 'nothing'}`,
      next: nextLook(attempt),
    },
  ];
}

/** Where the one works whose act ends the phase. */
function nextLook({ node, phase, attemptId }: AttemptView): NextCommand {
  const { owner } = phaseTable[phase];
  if (owner === 'pod') {
    return { verb: 'kubectl', rest: `get pods -n ${inPlaceNamespace} -o wide --field-selector spec.nodeName=${node}` };
  }
  if (owner === 'host') return { verb: 'machine logs', rest: `${node} --unit ${inPlaceUnits.run(attemptId)}` };
  return { verb: 'ipb status', rest: node };
}
