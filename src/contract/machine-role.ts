// The roles of machines. This file contains no schema: the table of verbs imports it and must load fast.
export const machineRoles = ['bootstrap', 'master', 'worker'] as const;
export type MachineRole = (typeof machineRoles)[number];

/** The role of a machine that stays in the cluster. */
export type NodeRole = Exclude<MachineRole, 'bootstrap'>;
