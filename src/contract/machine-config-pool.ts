// What the pool controller writes on a MachineConfigPool and others read: conditions, counts and history in its status.
// Conditions have upstream's names, so that tools for upstream's pools read ours.
import { z } from 'zod';
import { machineConfigGroup } from './machine-config-node.ts';

export const machineConfigPoolKind = { apiVersion: `${machineConfigGroup}/v1`, kind: 'MachineConfigPool' } as const;

/** On rendered MachineConfigs: one that somebody deletes stays until no node and no pool names it any more. */
export const renderedFinalizer = `${machineConfigGroup}/in-use`;

/** In the order in which they are written. */
export const poolConditionTypes = ['RenderDegraded', 'NodeDegraded', 'Degraded', 'Updated', 'Updating'] as const;
export type PoolConditionType = (typeof poolConditionTypes)[number];

const conditionSchema = z.object({
  type: z.string(),
  status: z.enum(['True', 'False', 'Unknown']),
  reason: z.string().default(''),
  message: z.string().default(''),
  lastTransitionTime: z.iso.datetime().exactOptional(),
});
export type PoolCondition = z.output<typeof conditionSchema>;

/**
 * `Updating`: nodes are moved to it. `Done`: all of them have it. `Replaced`: the pool got another target before all
 * of them had it.
 */
export const poolHistoryStates = ['Updating', 'Done', 'Replaced'] as const;

const historyEntrySchema = z.object({
  /** The rendered config. */
  name: z.string(),
  startedAt: z.iso.datetime(),
  completedAt: z.iso.datetime().exactOptional(),
  /** The MachineConfigs it was rendered from, in merge order. */
  sources: z.array(z.string()).default([]),
  state: z.enum(poolHistoryStates),
});
export type PoolHistoryEntry = z.output<typeof historyEntrySchema>;

/** The newest come first. */
export const poolHistoryLength = 20;

const count = z.int().nonnegative().default(0);
const configuration = z.object({
  name: z.string().default(''),
  source: z
    .array(z.looseObject({ name: z.string() }))
    .nullish()
    .transform((source) => source ?? []),
});

export const poolStatusSchema = z.object({
  observedGeneration: z.int().exactOptional(),
  /** The rendered config that every machine of the pool had last. */
  configuration: configuration.exactOptional(),
  machineCount: count,
  updatedMachineCount: count,
  readyMachineCount: count,
  unavailableMachineCount: count,
  degradedMachineCount: count,
  conditions: z
    .array(conditionSchema)
    .nullish()
    .transform((conditions) => conditions ?? []),
  history: z
    .array(historyEntrySchema)
    .nullish()
    .transform((history) => history ?? []),
});
export type PoolStatus = z.output<typeof poolStatusSchema>;

/** Of a pool object as the API has it; the status of a pool without one is empty. */
export function readPoolStatus(pool: { readonly [field: string]: unknown }): PoolStatus {
  return poolStatusSchema.safeParse(pool['status'] ?? {}).data ?? poolStatusSchema.parse({});
}
