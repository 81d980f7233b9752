// Pools: which MachineConfigs a kind of machine gets, and in which order they are merged. `master` and `worker` are
// built in; any other pool extends worker, so it has to select the worker's MachineConfigs too.
import { machineConfigErrors } from './errors.ts';
import { selects } from './label-selector.ts';
import type { MachineConfig, MachineConfigPool } from './machine-config.ts';
import { apiVersion, machineConfigPoolSchema, roleLabel } from './machine-config.ts';

export const builtInPools: readonly MachineConfigPool[] = ['master', 'worker'].map((role) =>
  machineConfigPoolSchema.parse({
    apiVersion,
    kind: 'MachineConfigPool',
    metadata: { name: role, labels: { [`pools.operator.machineconfiguration.openshift.io/${role}`]: '' } },
    spec: {
      machineConfigSelector: { matchLabels: { [roleLabel]: role } },
      nodeSelector: { matchLabels: { [`node-role.kubernetes.io/${role}`]: '' } },
    },
  }),
);

export const isBuiltInPool = (name: string): boolean => builtInPools.some((pool) => pool.metadata.name === name);

/** The built-in pools and the given ones; a given pool replaces a built-in one of its name. In order of name. */
export function allPools(given: readonly MachineConfigPool[]): readonly MachineConfigPool[] {
  const names = new Set(given.map((pool) => pool.metadata.name));
  const builtIn = builtInPools.filter((pool) => !names.has(pool.metadata.name));
  return [...builtIn, ...given].sort((one, other) => byName(one, other));
}

/**
 * The MachineConfigs of a pool in merge order: the worker's first, whatever their names, so that a custom pool's own
 * override them; within each part by name. Throws where the pool could not work.
 */
export function selectMachineConfigs(
  pool: MachineConfigPool,
  machineConfigs: readonly MachineConfig[],
): readonly MachineConfig[] {
  const selector = pool.spec.machineConfigSelector;
  const name = pool.metadata.name;
  if (!isBuiltInPool(name) && !selects(selector, { [roleLabel]: 'worker' })) {
    throw machineConfigErrors.POOL_NOT_WORKER({ pool: name });
  }
  const selected = machineConfigs.filter((machineConfig) => selects(selector, machineConfig.metadata.labels));
  if (selected.length === 0) throw machineConfigErrors.POOL_EMPTY({ pool: name });
  const isWorker = (machineConfig: MachineConfig): boolean => machineConfig.metadata.labels[roleLabel] === 'worker';
  return [
    ...selected.filter(isWorker).sort((one, other) => byName(one, other)),
    ...selected.filter((machineConfig) => !isWorker(machineConfig)).sort((one, other) => byName(one, other)),
  ];
}

interface Named {
  readonly metadata: { readonly name: string };
}

/** Byte order; object names are ASCII. */
function byName(one: Named, other: Named): number {
  if (one.metadata.name === other.metadata.name) return 0;
  return one.metadata.name < other.metadata.name ? -1 : 1;
}
