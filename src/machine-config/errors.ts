// The errors of reading and rendering MachineConfigs.
import { exitCodes } from '../errors/exit-codes.ts';
import { errorTable } from '../errors/firstlight-error.ts';

export const machineConfigErrors = errorTable('MACHINECONFIG', {
  UNREADABLE: {
    message: (e: { mistakes: readonly string[] }) =>
      `${e.mistakes.length === 1 ? 'a mistake' : `${e.mistakes.length} mistakes`} in the MachineConfigs:\n${e.mistakes.join('\n')}`,
    hint: 'Nothing was rendered. Mend the places named above and run the command again.',
    means:
      'At least one document could not be used: it is not YAML, not one of the kinds it claims to be, or its Ignition config would be refused by a machine.',
    exit: exitCodes.badConfig,
  },
  NO_FOLDER: {
    message: (e: { folder: string }) => `${e.folder}: there is no such folder`,
    hint: 'Name a folder with MachineConfig YAML by --from, or run firstlight create manifests first.',
    means: 'MachineConfigs are read from folders, and this one does not exist.',
    exit: exitCodes.badConfig,
  },
  POOL_UNKNOWN: {
    message: (e: { pool: string; pools: readonly string[] }) => `there is no pool ${e.pool}`,
    hint: (e: { pools: readonly string[] }) => `The pools here are: ${e.pools.join(', ')}.`,
    means: 'master and worker are built in; any other pool is a MachineConfigPool object, and none has this name.',
    exit: exitCodes.badConfig,
  },
  POOL_EMPTY: {
    message: (e: { pool: string }) => `the pool ${e.pool} selects no MachineConfig`,
    hint: 'Compare spec.machineConfigSelector of the pool with the labels of the MachineConfigs; an empty selector selects nothing.',
    means: 'A machine of this pool would get an empty configuration, which is never what anybody wants.',
    exit: exitCodes.badConfig,
  },
  POOL_NOT_WORKER: {
    message: (e: { pool: string }) => `the custom pool ${e.pool} does not select the MachineConfigs of worker`,
    hint: (e: { pool: string }) =>
      `Its machineConfigSelector needs {key: machineconfiguration.openshift.io/role, operator: In, values: [worker, ${e.pool}]}.`,
    means:
      'Every custom pool inherits from worker: without the base MachineConfigs its machines would have no kubelet.',
    exit: exitCodes.badConfig,
  },
  REFUSED: {
    message: (e: { pool: string; reasons: readonly string[] }) =>
      `pool ${e.pool} renders to something that no machine would accept:\n${e.reasons.map((reason) => `  ${reason}`).join('\n')}`,
    hint: 'firstlight machine-config explain POOL PATH shows every MachineConfig that had a part in it.',
    means:
      'Each MachineConfig is valid by itself, but what they give together is not: Ignition, the kubelet or the config server would refuse it.',
    exit: exitCodes.badConfig,
  },
  NOT_APPLICABLE: {
    message: (e: { pool: string; problems: readonly string[] }) =>
      `pool ${e.pool} renders to something that its machines cannot be brought to:\n${e.problems.map((problem) => `  ${problem}`).join('\n')}`,
    hint: 'Change or remove the MachineConfigs named above. The machines keep what they have until then.',
    means:
      'The configuration is valid, but it asks for something that this platform cannot give, or for a change that only a new machine can take (disks, users, groups, what Ignition fetches).',
    exit: exitCodes.badConfig,
  },
  TOO_LARGE: {
    message: (e: { pool: string; sizeBytes: number; limitBytes: number; largest: readonly string[] }) =>
      `pool ${e.pool} renders to ${e.sizeBytes} bytes, and an object of the API has at most ${e.limitBytes}; largest: ${e.largest.join(', ')}`,
    hint: 'Let the machine fetch large files (contents.source: https://…, with verification.hash) instead of carrying them in a MachineConfig.',
    means: 'A rendered configuration is stored as one object, and etcd refuses larger ones.',
    exit: exitCodes.badConfig,
  },
  POLICIES: {
    message: (e: { mistakes: readonly string[] }) =>
      `spec.nodeDisruptionPolicy of MachineConfiguration cluster cannot be used: ${e.mistakes.join('; ')}`,
    hint: 'Mend it with kubectl edit machineconfiguration cluster. No machine changes until then.',
    means:
      'This object says which changes of a machine need a reboot and which need less. A mistake in it could reboot machines, or leave them unrebooted, against the will of its author.',
    exit: exitCodes.badConfig,
  },
  NOT_THERE: {
    message: (e: { pool: string; name: string }) => `a machine of pool ${e.pool} gets nothing called ${e.name}`,
    hint: (e: { pool: string; name: string; similar: readonly string[] }) =>
      e.similar.length > 0
        ? `Did you mean ${e.similar.join(' or ')}?`
        : `firstlight machine-config show ${e.pool} lists everything it gets.`,
    means:
      'No file, folder, link, unit, drop-in, user, group or kernel argument of the rendered configuration has this name.',
    exit: exitCodes.badConfig,
  },
});
