// The phases of the bootstrap as stages of `create cluster`. The machines do the work by themselves and these stages
// only watch them: each is over as soon as the bootstrap machine reports a later phase.
import { platformErrors } from '../../platform/errors.ts';
import type { Stage, StageResult, StageTools } from '../../workflow/stage.ts';
import { isHeld, isPast, type WatchedPhase } from '../bootstrap-phase.ts';
import type { ClusterContext } from '../cluster-context.ts';
import { missingNow, movementKeys } from '../cluster-missing.ts';
import type { ClusterPlan } from '../cluster-plan.ts';
import { clusterErrors } from '../errors.ts';
import { stallWatch } from '../explain-stall.ts';
import { handedOverStage, isHandedOver } from '../handed-over.ts';
import { type ClusterObservation, observeCluster } from '../observe-cluster.ts';
import { waitForProgress } from '../wait-for-progress.ts';

const lookEveryMs = 250;

interface PhaseStage {
  readonly phase: WatchedPhase;
  readonly why: string;
  readonly note: string;
}

function phaseStage({ phase, why, note }: PhaseStage): Stage<ClusterContext> {
  const result = ({ name }: ClusterPlan): StageResult => ({ inputs: { cluster: name }, outputs: {}, note });
  return {
    name: phase,
    why,
    observe: async (context, last) => {
      const { host, dir, journal } = context;
      const cluster = context.plan.get();
      const { bootstrap } = await observeCluster(host, cluster);
      const isOver = isPast(bootstrap, phase) || (await isHandedOver({ host, dir, cluster, records: journal.records }));
      if (!isOver) return { status: 'needed', because: 'the machines are not past it' };
      if (last?.inputs['cluster'] === cluster.name) return { status: 'done' };
      return { status: 'adopt', result: result(cluster), note: `${note} already` };
    },
    run: async (context, tools) => {
      const cluster = context.plan.get();
      await watchPhase(context, tools, { cluster, phase });
      return result(cluster);
    },
  };
}

async function watchPhase(
  context: ClusterContext,
  { signal, report }: StageTools,
  { cluster, phase }: { readonly cluster: ClusterPlan; readonly phase: WatchedPhase },
): Promise<void> {
  const { host, patience, command } = context;
  await waitForProgress({
    clock: host.clock,
    command,
    stage: phase,
    patience,
    everyMs: lookEveryMs,
    signal,
    look: async () => {
      const observed = await observeCluster(host, cluster);
      context.onObservation(observed);
      refuseFailedBoot(observed);
      const missing = missingNow(observed);
      return {
        isDone: isPast(observed.bootstrap, phase),
        keys: movementKeys(observed),
        missing,
        isHeld: isHeld(observed.bootstrap),
      };
    },
    onMissing: (missing) => report({ missing }),
    onStill: () => refuseStopped(cluster),
    stall: stallWatch({ host, dir: context.dir, signal }, context.onLikely),
  });
}

function refuseFailedBoot({ machines }: ClusterObservation): void {
  const failed = machines.find(({ firstBoot }) => firstBoot?.phase === 'failed');
  if (failed === undefined) return;
  throw platformErrors.FIRST_BOOT_FAILED({
    machine: failed.name,
    reason: failed.firstBoot?.reason ?? failed.firstBootText,
  });
}

async function refuseStopped({ platform, name: cluster }: ClusterPlan): Promise<void> {
  const { machines: running } = await platform.observeProcesses(cluster);
  const known = await platform.listMachines(cluster);
  const machines = known.filter(({ name }) => !running.has(name)).map(({ name }) => name);
  if (machines.length > 0) throw clusterErrors.MACHINE_DOWN({ machines });
}

export const controlPlanePhase = phaseStage({
  phase: 'control plane',
  why: 'One machine first runs a control plane alone, so that there is something to join.',
  note: 'served by bootstrap',
});

export const mastersPhase = phaseStage({
  phase: 'masters',
  why: 'The cluster outlives the bootstrap machine only if masters hold its data and serve it.',
  note: 'vote in etcd and serve the API',
});

export const handoff = phaseStage({
  phase: 'handoff',
  why: 'From here on the masters carry the cluster, and nothing asks the bootstrap machine any more.',
  note: 'the masters carry the cluster alone',
});

export const addons = phaseStage({
  phase: handedOverStage,
  why: 'Names inside the cluster, and the end of every secret that the bootstrap machine was given.',
  note: 'deployed; no secret is left on bootstrap',
});
