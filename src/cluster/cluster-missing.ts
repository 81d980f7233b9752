// What is missing in a cluster, one value per machine. Machines that only wait for others come first, the bootstrap
// machine, which waits for all of them, last.
import { pausedText } from '../contract/bootstrap-pause.ts';
import { type Missing, waitingFor } from '../contract/missing.ts';
import { stageProgressKey, stageProgressText } from '../contract/stage-progress.ts';
import { shortened } from '../screen/short-words.ts';
import { isHeld, stageTitle } from './bootstrap-phase.ts';
import { isSettled, machineKey, machineWords } from './machine-words.ts';
import type { ClusterObservation, MachineObservation } from './observe-cluster.ts';

export function missingNow({ bootstrap, machines }: ClusterObservation): readonly Missing[] {
  const others = machines.filter((machine) => machine.role !== 'bootstrap' && !isSettled(machine));
  const first = machines.find(({ role }) => role === 'bootstrap');
  return [
    ...others.map((machine) => waitingFor(machine.name, '', { detail: machineWords(machine), key: keyOf(machine) })),
    ...(first === undefined ? [] : [bootstrapMissing(first, bootstrap)]),
  ];
}

function bootstrapMissing(machine: MachineObservation, bootstrap: ClusterObservation['bootstrap']): Missing {
  const progress = bootstrap?.progress;
  const missing = progress !== undefined && 'missing' in progress ? progress.missing : [];
  return waitingFor(machine.name, '', {
    detail: bootstrapWords(bootstrap) ?? machine.firstBootText,
    key: bootstrapKey(bootstrap) ?? keyOf(machine),
    machines: missing.flatMap(({ who, machines = [] }) => [who, ...machines]),
  });
}

function keyOf(machine: MachineObservation): string {
  return `${machine.name} ${machineKey(machine)}`;
}

/** Undefined while the bootstrap machine has not reported anything. */
export function bootstrapWords(bootstrap: ClusterObservation['bootstrap']): string | undefined {
  if (bootstrap === undefined) return undefined;
  const { stage, progress, reason } = bootstrap;
  if (isHeld(bootstrap)) return pausedText(stage);
  const said = progress === undefined ? reason : stageProgressText(progress);
  return shortened([stageTitle(stage), ...(said === undefined ? [] : [said])].join(': '));
}

export function bootstrapKey(bootstrap: ClusterObservation['bootstrap']): string | undefined {
  if (bootstrap === undefined) return undefined;
  const { stage, state, progress } = bootstrap;
  return [stage, state, ...(progress === undefined ? [] : [stageProgressKey(progress)])].join(' ');
}

/** One key for every state that counts as movement. Repeated requests of a first boot are no movement. */
export function movementKeys({ bootstrap, machines }: ClusterObservation): readonly string[] {
  return [
    ...machines.flatMap(({ name, firstBoot, agent }) => [
      `${name} ${firstBoot?.phase ?? ''}`,
      ...(agent?.duties ?? []).map((duty) => {
        const missing = duty.missing.map(({ key }) => key).join();
        return `${name} ${duty.name} ${duty.status} ${missing}`;
      }),
    ]),
    bootstrapKey(bootstrap) ?? '',
  ];
}
