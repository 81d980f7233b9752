// The verbs of the in-place bootstrapper, as rows of the table of all verbs (cli/verbs.ts).
import type { VerbRow } from '../frame/verb.ts';

export const inPlaceVerbs: readonly VerbRow[] = [
  {
    words: 'ipb prepare',
    summary: 'Make the Secret that an attempt in place reads.',
    load: async () => (await import('./prepare.ts')).inPlacePrepareVerb,
  },
  {
    words: 'ipb payload',
    summary: 'Make the payload of bash and ansible for one node, or list what it would hold.',
    load: async () => (await import('./payload.ts')).inPlacePayloadVerb,
  },
  {
    words: 'ipb start',
    summary: 'Bring a node, or all nodes of a pool, to its configuration in place, and follow it.',
    load: async () => (await import('./start.ts')).inPlaceStartVerb,
  },
  {
    words: 'ipb status',
    summary: 'Show the newest attempt of each node, and what keeps labelled nodes from beginning.',
    load: async () => (await import('./status.ts')).inPlaceStatusVerb,
  },
  {
    words: 'ipb watch',
    summary: 'Follow attempts to their end.',
    load: async () => (await import('./watch.ts')).inPlaceWatchVerb,
  },
  {
    words: 'ipb abort',
    summary: 'End an attempt or a run while nothing is changed yet.',
    load: async () => (await import('./abort.ts')).inPlaceAbortVerb,
  },
  {
    words: 'ipb history',
    summary: 'List attempts, how each ended and where its time went.',
    load: async () => (await import('./history.ts')).inPlaceHistoryVerb,
  },
  {
    words: 'ipb adopt',
    summary: 'Make a bare machine with SSH a worker of the cluster.',
    load: async () => (await import('./adopt.ts')).inPlaceAdoptVerb,
  },
  {
    words: 'ipb pod',
    summary: 'Check the host of this pod, put an attempt on it and start it; the DaemonSet ipb-system/ipb runs it.',
    isHidden: true,
    load: async () => (await import('../on-machine/ipb-pod.ts')).ipbPodVerb,
  },
  {
    words: 'ipb preflight',
    summary: 'Try out on this machine everything that an in-place bootstrap will need; nothing is changed.',
    isHidden: true,
    load: async () => (await import('../on-machine/ipb-preflight.ts')).ipbPreflightVerb,
  },
  {
    words: 'ipb stage',
    summary: 'Put program, settings and units of an in-place bootstrap on this machine.',
    isHidden: true,
    load: async () => (await import('../on-machine/ipb-stage.ts')).ipbStageVerb,
  },
  {
    words: 'ipb run',
    summary: 'Change this machine for an attempt.',
    isHidden: true,
    load: async () => (await import('../on-machine/ipb-run.ts')).ipbRunVerb,
  },
  {
    words: 'ipb finish',
    summary: 'Follow an attempt on this machine to its end, and remove what it brought.',
    isHidden: true,
    load: async () => (await import('../on-machine/ipb-finish.ts')).ipbFinishVerb,
  },
  {
    words: 'ipb bring',
    summary: 'Check this machine, put an attempt on it and start it; ipb adopt runs it over SSH.',
    isHidden: true,
    load: async () => (await import('../on-machine/ipb-bring.ts')).ipbBringVerb,
  },
];
