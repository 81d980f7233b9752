// What a machine is for. Apart from its schema, because the table of verbs reads it and must stay cheap to load.
export const machineRoles = ['bootstrap', 'master', 'worker'] as const;
export type MachineRole = (typeof machineRoles)[number];

/** What a machine that stays in the cluster is for. */
export type NodeRole = Exclude<MachineRole, 'bootstrap'>;
