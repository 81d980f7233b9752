// What a machine does or waits for, in words that fit beside its name, and the key that changes when it moves on. The
// frame, the lines of a pipe, `status` and the explanation of a stall all use these words.
import type { DutyName } from '../contract/duty-names.ts';
import { type Missing, missingText } from '../contract/missing.ts';
import { shortened } from '../screen/short-words.ts';
import type { MachineObservation } from './observe-cluster.ts';

/** Settled while the member of this master votes. */
const voterDuty: DutyName = 'etcd-member';

export function machineWords(machine: MachineObservation): string {
  const { firstBoot, agent } = machine;
  if (firstBoot?.phase !== 'done') return firstBootWords(machine);
  if (agent === undefined) return 'first boot done, its agent has not reported yet';
  const isVoter = agent.duties.some(({ name, status }) => name === voterDuty && status === 'settled');
  const missing = awaited(agent);
  const facts = [
    ...(isVoter ? ['etcd voter'] : []),
    ...(missing === undefined ? ['settled'] : [shortened(`waits for ${missing.map(missingText).join(', ')}`)]),
  ];
  return facts.join(' · ');
}

function firstBootWords({ firstBootText, firstBoot }: MachineObservation): string {
  const { url, reason } = firstBoot?.waitingFor ?? {};
  if (url === undefined) return firstBootText;
  return shortened(`asks ${url} for its config${reason === undefined ? '' : `: ${reason}`}`);
}

/** Stays the same as long as the machine does or waits for the same. */
export function machineKey(machine: MachineObservation): string {
  const { firstBoot, agent } = machine;
  if (firstBoot?.phase !== 'done') return firstBootWords(machine);
  if (agent === undefined) return 'no agent yet';
  return (
    awaited(agent)
      ?.map(({ key }) => key)
      .join(', ') ?? 'settled'
  );
}

export function isSettled({ firstBoot, agent }: MachineObservation): boolean {
  return firstBoot?.phase === 'done' && agent !== undefined && awaited(agent) === undefined;
}

/** What is missing for the first duty that does not only wait for another duty. */
function awaited({ duties }: NonNullable<MachineObservation['agent']>): readonly Missing[] | undefined {
  const waiting = duties.filter(({ status }) => status === 'waiting').map(({ missing }) => missing);
  return waiting.find((missing) => missing.some(({ duty }) => duty === undefined)) ?? waiting[0];
}
