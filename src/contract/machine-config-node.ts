// What the pool controller, the daemon on a machine, the config server and the workstation agree on about the
// configuration of one machine: annotations of its Node with upstream's names, what is in them, and files on its disk.
import { z } from 'zod';
import { jsonIfValid } from '../host/json-if-valid.ts';

export const machineConfigGroup = 'machineconfiguration.openshift.io';

const upstreams = <const Name extends string>(name: Name) => `${machineConfigGroup}/${name}` as const;

/** Annotations of a Node. */
export const nodeConfigAnnotations = {
  /** The rendered config that the machine has. The daemon writes it. */
  current: upstreams('currentConfig'),
  /** The rendered config that it is to have. The controller writes it. */
  desired: upstreams('desiredConfig'),
  /** One of `nodeConfigStates`. The daemon writes it. */
  state: upstreams('state'),
  /** Why it is Degraded or Unreconcilable, at most `reasonLengthMax` characters; empty otherwise. */
  reason: upstreams('reason'),
  /** The daemon asks by a `drainRequest`; the controller answers by copying it to `lastAppliedDrain`. */
  desiredDrain: upstreams('desiredDrain'),
  lastAppliedDrain: upstreams('lastAppliedDrain'),
  /** `Rebooting` while a reboot is queued. */
  postConfigAction: upstreams('post-config-action'),
  /** The rendered config of its first boot. */
  firstPivot: upstreams('firstPivotConfig'),
  /** What the daemon does and waits for now, as `NodeConfigProgress` in JSON. */
  progress: 'firstlight.io/config-progress',
  /** How far the controller is with a drain, as `DrainProgress` in JSON; absent when there is none. */
  drainProgress: 'firstlight.io/drain-progress',
  /** `Report` or `Revert`, from the node's pool. The controller writes it; absent means `Report`. */
  driftPolicy: 'firstlight.io/drift-policy',
} as const;

export const nodeConfigStates = ['Done', 'Working', 'Degraded', 'Unreconcilable'] as const;
export type NodeConfigState = (typeof nodeConfigStates)[number];

/** As upstream cuts it. */
export const reasonLengthMax = 2_000;

/** `drain-rendered-worker-1234`: the request of a daemon for its Node, as upstream writes it. */
export function drainRequest(kind: 'drain' | 'uncordon', config: string): string {
  return `${kind}-${config}`;
}

export const driftPolicies = ['Report', 'Revert'] as const;
export type DriftPolicy = (typeof driftPolicies)[number];

/** The phases of a change on a machine, in their order. */
export const nodeConfigPhases = ['draining', 'applying', 'acting', 'rebooting', 'verifying', 'undoing'] as const;
export type NodeConfigPhase = (typeof nodeConfigPhases)[number];

const nodeConfigProgressSchema = z.object({
  phase: z.enum(nodeConfigPhases),
  /** Completes "waits for …"; absent while it works. */
  waitsFor: z.string().optional(),
  since: z.iso.datetime(),
});
export type NodeConfigProgress = z.infer<typeof nodeConfigProgressSchema>;

/** From the annotation `progress`; undefined where it is absent or says something else. */
export function readConfigProgress(annotation: string | undefined): NodeConfigProgress | undefined {
  return nodeConfigProgressSchema.safeParse(jsonIfValid(annotation ?? '')).data;
}

const drainProgressSchema = z.object({
  since: z.iso.datetime(),
  /** Pods that are still to go, as `namespace/name`; at most twenty of them. */
  left: z.array(z.string()),
  leftCount: z.number(),
  /** The pods that cannot be evicted now, each with the budget that forbids it or the answer of the API. */
  blocked: z.array(z.object({ pod: z.string(), budget: z.string().optional(), reason: z.string() })),
  /** Completes "waits for …": what else is missing when all pods are gone, such as another master. */
  waitsFor: z.string().optional(),
});
export type DrainProgress = z.infer<typeof drainProgressSchema>;

/** From the annotation `drainProgress`; undefined where it is absent or says something else. */
export function readDrainProgress(annotation: string | undefined): DrainProgress | undefined {
  return drainProgressSchema.safeParse(jsonIfValid(annotation ?? '')).data;
}

/** The user's choices about disruptions: MachineConfiguration `cluster`, with upstream's fields. */
export const machineConfigurationObject = {
  apiVersion: 'operator.openshift.io/v1',
  kind: 'MachineConfiguration',
  name: 'cluster',
} as const;

/** An annotation of a pool: what `machine-config rollback` asked for, as `PoolRollback` in JSON. */
export const poolRollbackAnnotation = 'firstlight.io/rollback';
const poolRollbackSchema = z.object({
  /** The rendered config that the pool is to have. */
  to: z.string(),
  /** As long as its MachineConfigs render to this one, and no longer. */
  insteadOf: z.string(),
});
export type PoolRollback = z.infer<typeof poolRollbackSchema>;

/** Undefined where there is no such annotation, or it says something else. */
export function readPoolRollback(annotation: string | undefined): PoolRollback | undefined {
  return poolRollbackSchema.safeParse(jsonIfValid(annotation ?? '')).data;
}

/** Files of the daemon on a machine, with upstream's names. */
export const daemonFiles = {
  /** The annotations that a new Node begins with. The config server adds this file to what it serves. */
  nodeAnnotations: '/etc/machine-config-daemon/node-annotations.json',
  nodeAnnotationsDone: '/etc/machine-config-daemon/node-annotation.json.bak',
  /** The MachineConfig that was served at first boot, whole. The config server adds it. */
  servedMachineConfig: '/etc/mcs-machine-config-content.json',
  /** The same without files and units; while it exists, the first boot is not complete. The config server adds it. */
  encapsulated: '/etc/ignition-machine-config-encapsulated.json',
  encapsulatedDone: '/etc/ignition-machine-config-encapsulated.json.bak',
  /** The MachineConfig that the machine has, as JSON. It counts more than annotations of the Node. */
  currentConfig: '/etc/machine-config-daemon/currentconfig',
  /** Copies of the files of the operating system that a config replaced, each at its own path with `.mcdorig`. */
  originals: '/etc/machine-config-daemon/orig',
  /** Stamps of the paths where nothing was before, each with `.mcdnoorig`. */
  noOriginals: '/etc/machine-config-daemon/noorig',
  /** Files that changed what units of a config do and that no config wrote, each at its own path. They stay here. */
  setAside: '/etc/machine-config-daemon/set-aside',
  /** A person makes it: the next change is applied whatever the disk says. The daemon removes it. */
  force: '/run/machine-config-daemon-force',
  /** Held by whoever changes the machine's configuration: daemon, first-boot completion, in-place bootstrap. */
  lock: '/run/machine-config-daemon.lock',
  /** The change that is under way, and how the last one ended. */
  stateFolder: '/var/lib/firstlight/machine-config',
} as const;
