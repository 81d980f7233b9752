// What can go wrong while a cluster is created, followed, changed or destroyed.
import { type Missing, missingText } from '../contract/missing.ts';
import type { Reason } from '../diagnose/diagnose.ts';
import { diagnosisLines } from '../diagnose/diagnosis-lines.ts';
import { exitCodes } from '../errors/exit-codes.ts';
import { errorTable } from '../errors/firstlight-error.ts';

interface Stuck {
  readonly stage: string;
  readonly missing: readonly Missing[];
  /** The command that waited, as a person types it. */
  readonly command: string;
  readonly reasons: readonly Reason[];
  readonly dirOption: string;
}

function count(things: number): string {
  return things === 1 ? 'one thing is' : `${things} things are`;
}

/** What is missing, the reasons with the likeliest first, and the next command. */
function stuckHint({ missing, reasons, command, dirOption }: Omit<Stuck, 'stage'>): string {
  const again = `then, to continue where it stopped: firstlight ${command}${dirOption}`;
  const seen = missing.length === 0 ? ['nothing at all'] : missing.map(missingText);
  return diagnosisLines({ seen, reasons, dirOption, closing: [again] }).join('\n');
}

export const clusterErrors = errorTable('CLUSTER', {
  PLATFORM_NONE: {
    message: (e: { command: string; platform: string }) =>
      `${e.command} cannot make machines on platform ${e.platform}`,
    hint: 'Boot your machines with bootstrap.ign, master.ign and worker.ign from create ignition-configs.',
    means: 'On platform none you bring the machines, DNS and the load balancer; firstlight makes what they boot with.',
    exit: exitCodes.usage,
  },
  NO_CLUSTER: {
    message: (e: { dir: string }) => `there is no cluster in ${e.dir}`,
    hint: 'firstlight create cluster makes one; --dir names another folder.',
    means: 'The folder has no metadata.json, so no cluster was made from it.',
    exit: exitCodes.usage,
  },
  NO_REGISTRY: {
    message: (e: { reason: string }) => `the cluster has no registry to push to: ${e.reason}`,
    hint: 'firstlight kubectl get clusteroperator registry says how it is; docs/add-ons.md says how to turn it on.',
    means:
      'The registry is a capability of the cluster. Its operator makes the password and the certificate that a push needs.',
    exit: exitCodes.usage,
  },
  NO_BOOTSTRAP: {
    message: (e: { cluster: string }) => `the cluster ${e.cluster} has no bootstrap machine`,
    hint: 'create cluster makes it, and removes it after the handoff; --keep-bootstrap keeps it.',
    means: 'The verb is about the bootstrap machine, which is not made yet or is gone.',
    exit: exitCodes.usage,
  },
  NO_RUN: {
    message: (e: { dir: string }) => `no run of create cluster is on record in ${e.dir}`,
    hint: 'firstlight create cluster makes the cluster, and the record with it.',
    means: 'The waterfall is drawn from what machines and create cluster noted while they worked; there are no notes.',
    exit: exitCodes.usage,
  },
  STALLED: {
    message: (e: Stuck & { seconds: number }) => `${e.stage}: nothing has moved for ${e.seconds} s`,
    hint: stuckHint,
    means:
      'While something moves there is no timeout. Nothing new happened for as long as --stall-after allows, so every machine was looked into; firstlight diagnose looks again. The machines go on by themselves, and the same command continues.',
    exit: exitCodes.bootstrapFailed,
  },
  TIMEOUT: {
    message: (e: Stuck) => `${e.stage}: the time that --timeout allows is over`,
    hint: stuckHint,
    means:
      'The limit that was given on the command line has passed before the cluster was ready. Nothing was undone, and the machines go on by themselves.',
    exit: exitCodes.bootstrapFailed,
  },
  NOT_COMPLETE: {
    message: (e: Omit<Stuck, 'stage'>) => `the cluster does not become complete: ${count(e.missing.length)} missing`,
    hint: stuckHint,
    means: 'The masters carry the cluster, but not everything that belongs to it works.',
    exit: exitCodes.installFailed,
  },
  MACHINE_DOWN: {
    message: (e: { machines: readonly string[] }) =>
      `${e.machines.join(', ')} ${e.machines.length === 1 ? 'has' : 'have'} stopped`,
    hint: 'firstlight create cluster starts them again; firstlight machine logs NAME --console says how they ended.',
    means: 'A machine that the cluster needs has no processes any more.',
    exit: exitCodes.infrastructure,
  },
  NOT_HANDED_OVER: {
    message: (e: { dir: string }) => `the masters of the cluster in ${e.dir} do not carry it yet`,
    hint: 'firstlight wait-for bootstrap-complete waits until they do. --force destroys the bootstrap machine anyway.',
    means:
      'The bootstrap machine still holds what nobody else has. Without it the cluster could not be completed, or would be lost.',
    exit: exitCodes.bootstrapFailed,
  },
  NODE_UNKNOWN: {
    message: (e: { name: string; known: readonly string[] }) =>
      `there is no machine ${e.name}; there are ${e.known.join(', ')}`,
    hint: 'firstlight node list shows them all.',
    means: 'The name is not in the inventory of the cluster.',
    exit: exitCodes.usage,
  },
  NODE_EXISTS: {
    message: (e: { name: string; role: string }) => `${e.name} is a ${e.role} of this cluster already`,
    hint: 'Choose another name.',
    means: 'Every machine of a cluster has a name of its own.',
    exit: exitCodes.usage,
  },
  POOL_NOT_JOINABLE: {
    message: (e: { pool: string; reason: string }) => `no machine can join the pool ${e.pool}: ${e.reason}`,
    hint: 'firstlight machine-config status shows the pools and what is wrong with them.',
    means:
      'A new machine gets the configuration of its pool at first boot, so the pool must exist and have one. Masters join under their own names, without --pool.',
    exit: exitCodes.usage,
  },
  NODE_IS_MASTER: {
    message: (e: { name: string }) => `${e.name} is a master`,
    hint: 'To make a master anew: firstlight machine destroy NAME, then firstlight node add NAME.',
    means: 'To take a master away for good changes how many may fail; node remove takes workers only.',
    exit: exitCodes.usage,
  },
  PERSON_REFUSED: {
    message: (e: { reason: string }) => `this kubeconfig is not made: ${e.reason}`,
    hint: 'Names and groups that begin with system: or firstlight: are those of the cluster; firstlight:admins is the group of administrators.',
    means:
      'A certificate cannot be taken back before it ends. It may therefore never say that somebody is a part of the cluster, or of the one group whose rights cannot be taken away.',
    exit: exitCodes.usage,
  },
  FILE_EXISTS: {
    message: (e: { file: string }) => `${e.file} is there already`,
    hint: '--replace writes over it; --to names another file.',
    means: 'The command writes a new file. What is in an existing one could not be made again.',
    exit: exitCodes.usage,
  },
  REQUEST_DENIED: {
    message: (e: { request: string; reason: string }) => `the certificate request ${e.request} was denied: ${e.reason}`,
    hint: (e: { request: string; reason: string }) => `firstlight kubectl describe csr ${e.request} says by whom.`,
    means: 'Somebody else decided about the request, or removed it, before it was signed.',
    exit: exitCodes.infrastructure,
  },
  REQUEST_NOT_SIGNED: {
    message: (e: { request: string; reason: string }) =>
      `the certificate request ${e.request} was approved and not signed: ${e.reason}`,
    hint: (e: { request: string; reason: string }) => `firstlight kubectl describe csr ${e.request} shows it.`,
    means: 'The controller manager signs only what its rules for the signer allow.',
    exit: exitCodes.infrastructure,
  },
  NOT_DRAINED: {
    message: (e: { name: string; reason: string }) => `the pods of ${e.name} cannot be moved away: ${e.reason}`,
    hint: 'The node takes no new pods and is otherwise as it was. --force removes it anyway.',
    means: 'Before a node goes its pods are evicted; a disruption budget or a pod without an owner can forbid that.',
    exit: exitCodes.infrastructure,
  },
  ROLL_OUT_DEGRADED: {
    message: (e: { pools: readonly string[]; reasons: readonly string[]; dirOption: string }) =>
      `the roll-out stops:\n${e.reasons.map((reason) => `  ${reason}`).join('\n')}`,
    hint: (e: { pools: readonly string[]; reasons: readonly string[]; dirOption: string }) =>
      `No further node changes until that is mended. To go back:\n${e.pools.map((pool) => `firstlight machine-config rollback ${pool}${e.dirOption}`).join('\n')}`,
    means:
      'A node could not take its configuration, or its files are not what its configuration says. It keeps what it had, and its pool stops, so that no second node fails in the same way.',
    exit: exitCodes.notStable,
  },
  ROLL_OUT_STUCK: {
    message: (e: Stuck & { pools: readonly string[] }) => `the roll-out to ${e.pools.join(', ')} is not over`,
    hint: stuckHint,
    means:
      'Nothing has moved for as long as --stall-after allows, or the time of --timeout is over. Nothing was undone: the cluster goes on by itself, and machine-config status --watch follows it.',
    exit: exitCodes.notStable,
  },
  NOTHING_TO_ROLL_BACK: {
    message: (e: { pool: string }) => `the pool ${e.pool} has had no other configuration`,
    hint: (e: { pool: string }) => `firstlight machine-config history ${e.pool} lists what it has had.`,
    means: 'A pool is rolled back to a configuration that all of its nodes had before.',
    exit: exitCodes.usage,
  },
  CONFIG_UNKNOWN: {
    message: (e: { pool: string; config: string }) => `the pool ${e.pool} has no configuration ${e.config}`,
    hint: (e: { pool: string; config: string }) => `firstlight machine-config history ${e.pool} lists what it has had.`,
    means:
      'No rendered configuration of the pool has this name, or several have names that begin so. The cluster keeps the last ten that no node needs.',
    exit: exitCodes.usage,
  },
  NOT_RENDERED: {
    message: (e: { pool: string; problem: string }) =>
      e.problem.startsWith(`pool ${e.pool}`) ? e.problem : `pool ${e.pool}: ${e.problem}`,
    hint: 'Nothing was applied. Mend what is named above and run the command again.',
    means:
      'With these objects a pool of the cluster could not be rendered, or its machines could not be brought to the result. The cluster would refuse it in the same way and keep what it has.',
    exit: exitCodes.badConfig,
  },
});
