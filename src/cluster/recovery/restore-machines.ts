// The machines of a restore: a bootstrap machine whose etcd begins with the snapshot, and masters that join it like
// those of a new cluster. Workers are not touched. The record of the restore is written after what was to be destroyed
// is gone: from then on every master that is there belongs to the restore.
import { type EtcdRestore, etcdRestoreFile, etcdSnapshotFile } from '../../contract/etcd-restore.ts';
import { waitingFor } from '../../contract/missing.ts';
import { working } from '../../contract/stage-progress.ts';
import type { RestoreUnderWay } from '../../disaster-recovery/decide-restore.ts';
import { recoveryErrors } from '../../disaster-recovery/errors.ts';
import { FirstlightError } from '../../errors/firstlight-error.ts';
import { ableTo } from '../../platform/platform.ts';
import type { Stage, StageTools } from '../../workflow/stage.ts';
import { type Observation, waitUntil } from '../../workflow/wait.ts';
import { findBootstrapMachine } from '../bootstrap-machine.ts';
import { isPast } from '../bootstrap-phase.ts';
import { bootstrapRequest } from '../bootstrap-request.ts';
import { clusterErrors } from '../errors.ts';
import { isHandedOver } from '../handed-over.ts';
import { placeHostEndpoint } from '../host-endpoint.ts';
import { observeCluster } from '../observe-cluster.ts';
import { namesInShort } from '../stages/machines.ts';
import { failureOf, inputFromFile } from './machine-transfer.ts';
import { type RestoreContext, restoreRecord, restoreUnderWay } from './restore-context.ts';
import { inMegabytes } from './take-backup.ts';

export const restoredMachines: Stage<RestoreContext> = {
  name: 'machines',
  why: 'The masters are made anew, and a bootstrap machine holds the data of the backup until they do.',
  observe: async () => ({ status: 'needed', because: 'what runs is asked of the host each time' }),
  run: async (context, { signal }) => {
    const { host, dir, emit, journal } = context;
    const plan = context.plan.get();
    const { platform, name, domain, machineNetwork } = plan;
    const restore = await begunRestore(context, signal);
    const isOver = await isHandedOver({ host, dir, cluster: plan, records: journal.records });
    const wanted = plan.machines.filter(({ role }) => role === 'master' || (role === 'bootstrap' && !isOver));
    const existing = new Set((await platform.listMachines(name)).map((machine) => machine.name));
    const additions = { environment: context.bootkubeEnvironment.get(), pause: undefined, restore };
    const change = { emit, signal };
    const there = wanted.filter((machine) => existing.has(machine.name)).map((machine) => machine.name);
    if (there.length > 0) await ableTo(platform, 'startMachines')(change, name, there);
    const missing = wanted
      .filter((machine) => !existing.has(machine.name))
      .map((request) => (request.role === 'bootstrap' ? bootstrapRequest(request, additions) : request));
    if (missing.length > 0) {
      await ableTo(platform, 'createMachines')(change, {
        cluster: { name, domain, ...(machineNetwork === undefined ? {} : { machineNetwork }) },
        machines: missing,
        image: context.image.get(),
      });
    }
    const placed = await platform.findCluster(name);
    if (placed !== undefined) await placeHostEndpoint({ host, dir, placed, emit, signal });
    return { inputs: { cluster: name }, note: namesInShort(wanted.map((machine) => machine.name)) };
  },
};

async function begunRestore(context: RestoreContext, signal: AbortSignal): Promise<EtcdRestore> {
  const { host, journal, backup, destroyed, emit } = context;
  const { etcd, snapshot } = backup.manifest;
  const restoreOf = ({ id, beganAt }: RestoreUnderWay): EtcdRestore => {
    return { id, beganAt, snapshot: { ...snapshot, revision: etcd.revision } };
  };
  const underWay = restoreUnderWay(journal.records);
  if (underWay !== undefined) return restoreOf(underWay);
  const { platform, name } = context.plan.get();
  if (destroyed.length > 0) await ableTo(platform, 'destroyMachines')({ emit, signal }, name, destroyed);
  const beganAt = host.clock.now().toISOString();
  const begun = { id: Buffer.from(host.random.bytes(8)).toString('hex'), beganAt, sha256: snapshot.sha256 };
  await journal.append(restoreRecord(begun));
  return restoreOf(begun);
}

const enterMs = 10 * 60_000;
const bringMs = 60 * 60_000;

/** The bootstrap machine compares the digest, and starts no etcd before it has the whole snapshot. */
export const broughtSnapshot: Stage<RestoreContext> = {
  name: 'snapshot',
  why: 'The etcd of the cluster begins with it; it is brought to the machine, because a config is no place for it.',
  observe: async (context) => {
    const { host, dir, journal } = context;
    const cluster = context.plan.get();
    const { bootstrap } = await observeCluster(host, cluster);
    const isOver =
      isPast(bootstrap, 'control plane') || (await isHandedOver({ host, dir, cluster, records: journal.records }));
    return isOver ? { status: 'done' } : { status: 'needed', because: 'what the machine has is not known' };
  },
  run: async (context, tools) => {
    const { host, backup } = context;
    const { platform, name: cluster } = context.plan.get();
    const machine = await findBootstrapMachine(context.plan.get());
    if (machine === undefined) throw clusterErrors.NO_BOOTSTRAP({ cluster });
    await awaitFirstBoot(context, machine, tools);
    const { sizeBytes } = backup.manifest.snapshot;
    tools.report(working(`${inMegabytes(sizeBytes)} into ${machine}`));
    const script = 'umask 077; cat > "$0.part" && mv "$0.part" "$0"';
    const command = ['sh', '-c', script, etcdSnapshotFile];
    const inside = { host, platform, machine: { cluster, machine }, command, signal: tools.signal, timeoutMs: bringMs };
    const result = await inputFromFile(inside, backup.snapshot);
    if (result.code !== 0) throw recoveryErrors.NOT_BROUGHT({ machine, reason: failureOf(result) });
    return { inputs: { cluster }, note: `${inMegabytes(sizeBytes)} at revision ${backup.manifest.etcd.revision}` };
  },
};

/** Until Ignition has written its files, a folder that is made here could be in its way. */
async function awaitFirstBoot(context: RestoreContext, machine: string, tools: StageTools): Promise<void> {
  const { host } = context;
  const { platform, name: cluster } = context.plan.get();
  await waitUntil({
    clock: host.clock,
    what: `the first boot of ${machine}`,
    deadlineMs: enterMs,
    everyMs: 200,
    signal: tools.signal,
    probe: async (): Promise<Observation<true>> => {
      const { machines } = await observeCluster(host, context.plan.get());
      const isWritten = (await platform.filesOf({ cluster, machine }).readIfPresent(etcdRestoreFile)) !== undefined;
      if (isWritten && (await canBeEntered(context, machine))) return { status: 'ready', value: true };
      const text = machines.find(({ name }) => name === machine)?.firstBootText ?? 'boots';
      return { status: 'waiting', missing: [waitingFor(machine, text)] };
    },
    onMissing: (missing) => tools.report({ missing }),
  });
}

async function canBeEntered(context: RestoreContext, machine: string): Promise<boolean> {
  const { platform, name: cluster } = context.plan.get();
  try {
    await ableTo(platform, 'commandInside')({ cluster, machine }, { command: ['true'] });
    return true;
  } catch (error) {
    if (!(error instanceof FirstlightError)) throw error;
    return false;
  }
}
