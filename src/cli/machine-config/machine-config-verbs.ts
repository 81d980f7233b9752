// The verbs about MachineConfigs, as rows of the table of all verbs (cli/verbs.ts).
import type { VerbRow } from '../frame/verb.ts';

export const machineConfigVerbs: readonly VerbRow[] = [
  {
    words: 'machine-config render',
    summary: 'Merge the MachineConfigs of each pool into the one its machines get.',
    load: async () => (await import('./render.ts')).machineConfigRenderVerb,
  },
  {
    words: 'machine-config show',
    summary: 'List what a machine of a pool gets, and from which MachineConfig.',
    load: async () => (await import('./show.ts')).machineConfigShowVerb,
  },
  {
    words: 'machine-config diff',
    summary: 'Say what changes between two rendered configurations, and whether it needs a reboot.',
    load: async () => (await import('./diff.ts')).machineConfigDiffVerb,
  },
  {
    words: 'machine-config explain',
    summary: 'Say why a file, unit, user or kernel argument is on the machines of a pool.',
    load: async () => (await import('./explain.ts')).machineConfigExplainVerb,
  },
  {
    words: 'machine-config status',
    summary: 'Show which configuration each pool and node has, and what a roll-out waits for.',
    load: async () => (await import('./status.ts')).machineConfigStatusVerb,
  },
  {
    words: 'machine-config pause',
    summary: 'Let no further node of a pool change.',
    load: async () => (await import('./pause.ts')).machineConfigPauseVerb,
  },
  {
    words: 'machine-config resume',
    summary: 'Let the nodes of a paused pool change again.',
    load: async () => (await import('./pause.ts')).machineConfigResumeVerb,
  },
  {
    words: 'machine-config apply',
    summary: 'Say what MachineConfigs would do to the machines of the cluster, ask, and bring it to them.',
    load: async () => (await import('./apply.ts')).machineConfigApplyVerb,
  },
  {
    words: 'machine-config rollback',
    summary: 'Bring a pool back to a configuration that its nodes had.',
    load: async () => (await import('./rollback.ts')).machineConfigRollbackVerb,
  },
  {
    words: 'machine-config history',
    summary: 'List the configurations that the nodes of a pool have had.',
    load: async () => (await import('./history.ts')).machineConfigHistoryVerb,
  },
  {
    words: 'machine-config serve',
    summary: 'Serve configurations to machines over HTTPS (the Machine Config Server).',
    load: async () => (await import('./serve.ts')).machineConfigServeVerb,
  },
];
