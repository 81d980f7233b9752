// The stages of `restore`, in their order. Those in the middle are the stages of `create cluster`: the bootstrap
// machine founds a control plane, here from the snapshot, the masters join it and carry it on.
import { join } from 'node:path';
import { secretsEncryptionFile } from '../../contract/secrets-encryption.ts';
import { working } from '../../contract/stage-progress.ts';
import { newerPart } from '../../disaster-recovery/decide-restore.ts';
import { recoveryErrors } from '../../disaster-recovery/errors.ts';
import { writeIfChanged } from '../../host/write-if-changed.ts';
import { apiPatience } from '../../kubernetes/api-patience.ts';
import { currentRelease } from '../../release/current.ts';
import { retry } from '../../workflow/retry.ts';
import type { Stage } from '../../workflow/stage.ts';
import { connectCluster } from '../cluster-kubeconfig.ts';
import { listNodes } from '../cluster-nodes.ts';
import { assets } from '../stages/assets.ts';
import { addons, controlPlanePhase, handoff, mastersPhase } from '../stages/bootstrap-phases.ts';
import { awaitReadyNodes } from '../stages/nodes.ts';
import { release } from '../stages/release.ts';
import { removeBootstrap } from '../stages/remove-bootstrap.ts';
import { runInMachine } from './machine-transfer.ts';
import type { RestoreContext } from './restore-context.ts';
import { broughtSnapshot, restoredMachines } from './restore-machines.ts';
import { snapshotStatus } from './snapshot-checks.ts';

/** Its keys come into the folder with it: the assets of the machines are made from them. */
const judgedBackup: Stage<RestoreContext> = {
  name: 'backup',
  why: 'What cannot be restored is refused while nothing is changed.',
  observe: async () => ({ status: 'needed', because: 'the file is looked at each time' }),
  run: async ({ host, dir, backup, emit }, { signal }) => {
    const { manifest, file, snapshot } = backup;
    const status = await snapshotStatus(host, snapshot, signal);
    if ('mistake' in status) throw recoveryErrors.DAMAGED({ file, reason: status.mistake });
    const { etcd } = manifest;
    const isSame = status.hash === etcd.hash && status.revision === etcd.revision && status.keys === etcd.keys;
    if (!isSame) throw recoveryErrors.DAMAGED({ file, reason: 'etcdutl reads other figures than when it was taken' });
    const { manifest: here, digest } = await currentRelease(host);
    const versions = {
      kubernetes: here.kubernetes ?? '',
      etcd: here.parts.find(({ name }) => name === 'etcd')?.version ?? '',
    };
    const newer = newerPart(manifest, versions);
    if (newer !== undefined) throw recoveryErrors.NEWER(newer);
    if (!manifest.release.image.endsWith(digest)) {
      const image = manifest.release.image.split('@').at(-1)?.slice(0, 19) ?? '';
      const made = `the masters are made of release ${here.version} (sha256:${digest.slice(0, 12)}…)`;
      const text = `${made}; the backup is of ${manifest.release.version} (${image}…)`;
      emit({ kind: 'notice', level: 'warn', text });
    }
    const path = join(dir, 'tls', secretsEncryptionFile);
    if (await writeIfChanged(host.files, { path, text: backup.encryptionKeys.reveal(), mode: 0o600 })) {
      const text = `tls/${secretsEncryptionFile} has the keys of the backup again: ${manifest.encryption.keys.join(', ')}`;
      emit({ kind: 'notice', level: 'warn', text });
    }
    return { note: `of ${manifest.takenAt.slice(0, 19).replace('T', ' ')}, revision ${etcd.revision}, verified` };
  },
};

/** Every machine that is there. A worker whose machine is lost too is made anew by `node add`. */
const restoredNodes: Stage<RestoreContext> = {
  name: 'nodes',
  why: 'Workers find the API again by themselves; the cluster is back when all of its machines can be given work.',
  observe: async () => ({ status: 'needed', because: 'who is Ready is asked each time' }),
  run: async (context, tools) => {
    const cluster = context.plan.get();
    const machines = await cluster.platform.listMachines(cluster.name);
    const expected = machines.filter(({ role }) => role !== 'bootstrap').map(({ name }) => name);
    return awaitReadyNodes(context, tools, expected);
  },
};

/** The backup has no Node of a machine that joined after it, and a kubelet makes its Node only when it starts. */
const laterWorkers: Stage<RestoreContext> = {
  name: 'workers',
  why: 'Workers go on by themselves; one that is younger than the backup has to say again that it is there.',
  observe: async () => ({ status: 'needed', because: 'who is known is asked each time' }),
  run: async ({ host, dir, plan }, { signal, report }) => {
    const { platform, name: cluster } = plan.get();
    const machines = await platform.listMachines(cluster);
    await using client = await connectCluster(host, dir);
    const nodes = await retry(apiPatience({ host, signal }), () => listNodes(client, signal));
    const known = new Set(nodes.map(({ name }) => name));
    const later = machines.filter(({ role, name }) => role === 'worker' && !known.has(name)).map(({ name }) => name);
    for (const machine of later) {
      report(working(`${machine} joined after the backup: its kubelet registers it again`));
      const command = ['systemctl', 'restart', 'kubelet.service'];
      await runInMachine({ host, platform, machine: { cluster, machine }, command, signal, timeoutMs: 60_000 });
    }
    return { note: later.length === 0 ? 'known to the backup' : `${later.join(', ')} registered again` };
  },
};

export const restoreStages: readonly Stage<RestoreContext>[] = [
  release,
  judgedBackup,
  assets,
  restoredMachines,
  broughtSnapshot,
  controlPlanePhase,
  mastersPhase,
  handoff,
  laterWorkers,
  addons,
  removeBootstrap,
  restoredNodes,
];
