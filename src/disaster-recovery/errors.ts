// What can go wrong with backups of a cluster, and with bringing a cluster back from one.
import { exitCodes } from '../errors/exit-codes.ts';
import { errorTable } from '../errors/firstlight-error.ts';

export const recoveryErrors = errorTable('RECOVERY', {
  NOT_COMPLETE: {
    message: (e: { dir: string }) => `the masters of the cluster in ${e.dir} do not carry it yet`,
    hint: 'firstlight wait-for bootstrap-complete waits until they do.',
    means:
      'A backup is taken from a master. A cluster whose bootstrap is not over has nothing yet that could not be made again: destroy it and create it anew.',
    exit: exitCodes.usage,
  },
  NO_MEMBER: {
    message: (e: { seen: readonly string[] }) =>
      `no master has an etcd that answers${e.seen.length === 0 ? '' : `: ${e.seen.join('; ')}`}`,
    hint: 'firstlight machine start NAME starts a master that is stopped; firstlight diagnose says what else is wrong.',
    means:
      'A snapshot is taken from a living member of etcd. One is enough, also without a majority, but here there is none.',
    exit: exitCodes.infrastructure,
  },
  SNAPSHOT_FAILED: {
    message: (e: { machine: string; reason: string }) => `no snapshot came from ${e.machine}: ${e.reason}`,
    hint: 'Nothing was written. Run the same command again; firstlight machine logs NAME shows what the machine says.',
    means: 'etcdctl on the master saves a snapshot, which is then read from the machine. One of the two failed.',
    exit: exitCodes.infrastructure,
  },
  NOT_SOUND: {
    message: (e: { reason: string }) => `the snapshot is not sound: ${e.reason}`,
    hint: 'No backup was written. Run the same command again; if it repeats, the disk of the member is damaged.',
    means:
      'Before a backup is written, etcdutl of the release reads the snapshot, and its own checksum is compared with its content.',
    exit: exitCodes.infrastructure,
  },
  KEYS_UNREADABLE: {
    message: (e: { machine: string; reason: string }) =>
      `the keys that encrypt Secrets cannot be read on ${e.machine}: ${e.reason}`,
    hint: 'firstlight secrets status shows which keys the masters have.',
    means: 'Without these keys nobody could read the Secrets of the snapshot, so a backup holds them, sealed.',
    exit: exitCodes.infrastructure,
  },
  BUSY: {
    message: (e: { pid: number }) => `process ${e.pid} takes a backup of this cluster already`,
    hint: 'Wait for its end.',
    means: 'One backup of a cluster is taken at a time.',
    exit: exitCodes.usage,
  },
  FILE_EXISTS: {
    message: (e: { file: string }) => `${e.file} is there already`,
    hint: '--to names another file.',
    means: 'A backup never takes the place of another one.',
    exit: exitCodes.usage,
  },
  DAMAGED: {
    message: (e: { file: string; reason: string }) => `${e.file} is no backup that can be used: ${e.reason}`,
    hint: 'Use another backup. Nothing was changed.',
    means:
      'The file is not one that firstlight backup wrote, or it was cut off or altered since. Every part of it is compared with its digest before anything is done.',
    exit: exitCodes.badConfig,
  },
  OTHER_CLUSTER: {
    message: (e: { file: string; backup: string; dir: string; folder: string }) =>
      `${e.file} is a backup of the cluster ${e.backup}, and ${e.dir} is the folder of ${e.folder}`,
    hint: '--dir names the asset folder of the cluster that the backup was taken from.',
    means:
      'Only the asset folder of a cluster has the keys by which its machines know each other and by which its Secrets are encrypted. Nothing was changed.',
    exit: exitCodes.usage,
  },
  WRONG_KEYS: {
    message: (e: { file: string; dir: string }) => `the key of root-ca in ${e.dir} does not open the keys in ${e.file}`,
    hint: 'Use the asset folder as it was when the backup was taken; tls/root-ca.key must be the same.',
    means:
      'A backup holds the keys that encrypt Secrets, sealed by a key that is derived from tls/root-ca.key. Nothing was changed.',
    exit: exitCodes.usage,
  },
  NEWER: {
    message: (e: { what: string; backup: string; here: string }) =>
      `the backup needs ${e.what} ${e.backup}, and the release here has ${e.here}`,
    hint: 'Use the Firstlight that the cluster ran when the backup was taken, or a newer one.',
    means: 'Data that a newer program wrote may have a form that an older one reads wrongly. Nothing was changed.',
    exit: exitCodes.usage,
  },
  MASTERS_LIVE: {
    message: (e: { machines: readonly string[] }) =>
      `${e.machines.join(', ')} ${e.machines.length === 1 ? 'is' : 'are'} there: restore would write over what ${e.machines.length === 1 ? 'it has' : 'they have'}`,
    hint: 'One lost master: firstlight node add NAME. To go back to the backup all the same: --replace-masters destroys them first.',
    means:
      'A restore begins a new control plane with the state of the backup. Everything that was written since is lost, so masters that are still there are not touched unless you say so.',
    exit: exitCodes.usage,
  },
  UNDER_WAY: {
    message: (e: { began: string; machines: readonly string[] }) =>
      `a restore from another backup began at ${e.began} and is not over; ${e.machines.join(', ')} belong to it`,
    hint: 'The same command with that backup continues it. To begin again with this one: --replace-masters.',
    means: 'A restore that was interrupted continues with its own backup. Two backups in one cluster make no cluster.',
    exit: exitCodes.usage,
  },
  NOT_BROUGHT: {
    message: (e: { machine: string; reason: string }) => `the snapshot does not get into ${e.machine}: ${e.reason}`,
    hint: 'firstlight machine logs NAME --console says what the machine does; the same command continues.',
    means: 'The bootstrap machine waits for the snapshot, and writing it there failed.',
    exit: exitCodes.infrastructure,
  },
});
