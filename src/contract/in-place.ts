// What the parts of the in-place bootstrapper agree on: the pod on a node, the unit on its host, the controller in the
// agent of a master, the progress API in the config servers, and the workstation. Names, files, the Secret, reports.
import { z } from 'zod';
import { jsonIfValid } from '../host/json-if-valid.ts';

/** A person sets one of them to `true` on a cordoned node. The first is the document's, the second the neutral one. */
export const scheduleLabels = ['ibm-cloud.kubernetes.io/ipb-schedule', 'firstlight.dev/ipb-schedule'] as const;
export const scheduledValue = 'true';

export const inPlaceNamespace = 'ipb-system';
export const inPlaceDaemonSet = 'ipb';
/** In the namespace: the facts of the cluster that pods and controller need, as `InPlaceFacts` under this key. */
export const inPlaceFactsConfigMap = { name: 'ipb', key: 'facts.json' } as const;

export const inPlaceFactsSchema = z.object({
  clusterId: z.string(),
  /** Of the progress API and the payload service, which config servers serve: `https://api-int…:22623`. */
  serviceUrl: z.url(),
  /** The authority of those servers, as PEM. */
  serviceCa: z.string(),
});
export type InPlaceFacts = z.infer<typeof inPlaceFactsSchema>;

/** Annotations of a Node. */
export const inPlaceAnnotations = {
  /** The name of the InPlaceAttempt that the controller works on. Approver and pool controller read it too. */
  claim: 'ipb.dev/claim',
  /** The state of the newest attempt, as `InPlaceStatus` in JSON. */
  status: 'ipb.dev/status',
} as const;

/** Keeps workloads away from the moment a node is back until its labels and taints are. */
export const restoringTaint = { key: 'ipb.dev/restoring', effect: 'NoSchedule' } as const;

export const inPlaceSystems = ['rhcos', 'rhel'] as const;
/** `rhcos`: the route by an Ignition config. `rhel`: the route by a payload of bash and ansible. */
export type InPlaceSystem = (typeof inPlaceSystems)[number];
/** A label of the Secret, with the same value as its key `os`. */
export const systemLabel = 'ipb.dev/os';

export function attemptSecretName(node: string): string {
  return `ipb-${node}`;
}

/** The keys of the Secret of a node; for each, the systems that need it, and those that may have it. */
export const attemptSecretKeys = {
  os: { needed: inPlaceSystems },
  'attempt-id': { needed: inPlaceSystems },
  'not-after': { needed: inPlaceSystems },
  'ignition-url': { needed: ['rhcos'] },
  'ignition-token': { needed: ['rhcos'] },
  'ignition-ca.crt': { needed: ['rhcos'] },
  'node-pool': { needed: [], allowed: inPlaceSystems },
  'target-hash': { needed: [], allowed: inPlaceSystems },
  'bootstrap-url': { needed: ['rhel'] },
  'bootstrap-token': { needed: ['rhel'] },
  'bootstrap-ca.crt': { needed: ['rhel'] },
  'worker-id': { needed: ['rhel'] },
  'cluster-id': { needed: ['rhel'] },
  region: { needed: ['rhel'] },
  'registry-probe': { needed: [], allowed: inPlaceSystems },
  'report-url': { needed: [], allowed: inPlaceSystems },
  'report-token': { needed: [], allowed: inPlaceSystems },
  'report-ca.crt': { needed: [], allowed: inPlaceSystems },
  /** `required`: an attempt does not start while the report URL does not answer. */
  report: { needed: [], allowed: inPlaceSystems },
  proxy: { needed: [], allowed: inPlaceSystems },
} as const satisfies Record<
  string,
  { readonly needed: readonly InPlaceSystem[]; readonly allowed?: readonly InPlaceSystem[] }
>;
export type AttemptSecretKey = keyof typeof attemptSecretKeys;
/** The decoded data of a Secret; which keys are missing is a matter of preflight P01. */
export type AttemptSecret = Readonly<Partial<Record<AttemptSecretKey, string>>>;

const attemptProxySchema = z.object({ http: z.string(), https: z.string(), no: z.string() }).partial();

/** The key `proxy` of a Secret, `{"http": …, "https": …, "no": …}`, as the variables that programs read. */
export function attemptProxyVariables(text: string | undefined): Readonly<Record<string, string>> {
  const { http, https, no } = attemptProxySchema.safeParse(jsonIfValid(text ?? '')).data ?? {};
  return {
    ...(http === undefined ? {} : { HTTP_PROXY: http }),
    ...(https === undefined ? {} : { HTTPS_PROXY: https }),
    ...(no === undefined ? {} : { NO_PROXY: no }),
  };
}

/** Headers of a request for an Ignition config; the config server serves the rendered config of that name. */
export const targetHeaders = { pool: 'nodepool', hash: 'targetconfigversionhash' } as const;

/** In the order of an attempt. `src/in-place/phases.ts` says who is responsible for each, and what may follow. */
export const inPlacePhases = [
  'Scheduled',
  'Preflight',
  'Ready',
  'KubeletStopped',
  'LabelCleared',
  'Applying',
  'Rebooting',
  'BaseDone',
  'Rebooting2',
  'KubeApplying',
  'Booted',
  'Joining',
  'Restoring',
  'Succeeded',
  'PreflightFailed',
  'Failed',
  'RolledBack',
] as const;
export type InPlacePhase = (typeof inPlacePhases)[number];

export const preflightIds = [
  'P01',
  'P02',
  'P03',
  'P04',
  'P05',
  'P06',
  'P07',
  'P08',
  'P09',
  'P10',
  'P11',
  'P12',
  'P13',
  'P14',
] as const;
export type PreflightId = (typeof preflightIds)[number];

export const messageLengthMax = 2_000;

/** One report about an attempt: the body of a POST to the progress API. */
export const progressEventSchema = z.object({
  /** From 1, without gaps, per attempt. */
  seq: z.int().min(1),
  phase: z.enum(inPlacePhases),
  /** What of the phase: the id of a preflight check, or a step such as `stop-kubelet`. */
  step: z.string().max(100),
  status: z.enum(['started', 'progress', 'ok', 'failed', 'warning']),
  percent: z.number().min(0).max(100).optional(),
  code: z.string().max(100).optional(),
  message: z.string().max(messageLengthMax),
  bootId: z.string().max(100),
  at: z.iso.datetime(),
  os: z.enum(inPlaceSystems),
  agentVersion: z.string().max(100),
  /** Path or name → SHA-256. */
  digests: z.record(z.string().max(300), z.string().max(100)).optional(),
});
export type ProgressEvent = z.infer<typeof progressEventSchema>;

export const progressCommands = ['none', 'cleared', 'abort', 'pause'] as const;
/**
 * What the controller tells the reporter with every answer. `pause`: until the node is drained. The pod reports Ready
 * all the same, and puts nothing on the host before it reads `none`. `cleared`: the label is gone and the annotations
 * fit; apply. `abort`: end before anything is changed.
 */
export type ProgressCommand = (typeof progressCommands)[number];

/** The answer 202. A 409 has the same `ackSeq`: the server wants the event after it. */
export const progressAnswerSchema = z.object({
  ackSeq: z.int().min(0),
  command: z.enum(progressCommands).default('none'),
  /** Where the controller sees the attempt. Our own API tells it; a foreign one need not. */
  phase: z.enum(inPlacePhases).optional(),
});
export type ProgressAnswer = z.infer<typeof progressAnswerSchema>;

/**
 * Headers of a report that is sent again to learn the command: `Prefer: wait=8` (RFC 7240) lets the server answer only
 * when it has another command or phase than `<command>/<phase>` in the second header, or when the seconds are over.
 */
export const waitHeaders = { prefer: 'prefer', seen: 'x-ipb-seen' } as const;

export function progressPath(cluster: string, node: string, attempt: string): string {
  return `/v1/clusters/${cluster}/nodes/${node}/attempts/${attempt}/events`;
}

/** GET: an attempt as the progress API knows it. */
export function attemptPath(cluster: string, node: string, attempt: string): string {
  return `/v1/clusters/${cluster}/nodes/${node}/attempts/${attempt}`;
}

/**
 * POST by the pod, with the token of its service account, which carries the name of its node: the Secret of that node
 * and a token for reports (`ReporterGrant`). Refused with 409 once the attempt has stopped the kubelet.
 */
export function reporterPath(cluster: string, node: string): string {
  return `/v1/clusters/${cluster}/nodes/${node}/reporter`;
}

/** GET with the token and the ids of the Secret: a payload made for that worker. */
export const payloadPath = '/v1/payload';

/** The audience of the pod's token. */
export const reporterAudience = 'ipb.dev/reporter';

export const reporterGrantSchema = z.object({
  attemptId: z.string(),
  secret: z.partialRecord(z.enum(Object.keys(attemptSecretKeys) as [AttemptSecretKey]), z.string()),
  token: z.string(),
  /** The last event that the progress API has: a pod that starts again goes on after it. */
  ackSeq: z.int().min(0).default(0),
});
export type ReporterGrant = z.infer<typeof reporterGrantSchema>;

export const inPlaceGroup = 'ipb.dev';
export const inPlaceVersion = `${inPlaceGroup}/v1`;
export const attemptKind = { apiVersion: inPlaceVersion, kind: 'InPlaceAttempt' } as const;

const specOfAttempt = z.object({
  node: z.string(),
  attemptId: z.string(),
  os: z.enum(inPlaceSystems),
  notAfter: z.iso.datetime({ offset: true }),
  clusterId: z.string(),
  /** The machine is no node yet: there is nothing to label, to drain or to restore. */
  isAdoption: z.boolean().default(false),
  /** The InPlaceRun that started it. */
  run: z.string().optional(),
});

const preflightResult = z.object({
  id: z.enum(preflightIds),
  outcome: z.enum(['ok', 'failed', 'warning', 'skipped']),
  message: z.string(),
});
export type PreflightResult = z.infer<typeof preflightResult>;

/** Written by config servers only: what the machine says. */
const reportOfAttempt = z.object({
  /** The SHA-256 of the token that reports are made with. */
  tokenDigest: z.string().optional(),
  /** Of the grant before: a unit that was started with it may still report. */
  formerTokenDigest: z.string().optional(),
  ackSeq: z.int().default(0),
  /** The newest events, oldest first; at most `keptEvents`. */
  events: z.array(progressEventSchema).default([]),
  /** The first event of each phase, with its time; never cut. */
  phases: z.array(z.object({ phase: z.enum(inPlacePhases), at: z.string(), bootId: z.string() })).default([]),
  preflight: z.array(preflightResult).default([]),
});
export const keptEvents = 40;

/** Written by the controller, except `report`. Machines cannot write any of it but by the progress API. */
const statusOfAttempt = z.object({
  phase: z.enum(inPlacePhases).default('Scheduled'),
  history: z
    .array(z.object({ phase: z.enum(inPlacePhases), at: z.string(), message: z.string().default('') }))
    .default([]),
  command: z.enum(progressCommands).default('pause'),
  /** The immutable ConfigMap with labels, taints and annotations as they were. */
  snapshot: z.string().optional(),
  /**
   * The Node in the API's answer to the removal of the labels, before `cleared` was said. It still had its old boot: so
   * the labels were gone before the first report of a kubelet that booted anew, which writes another. Both are empty
   * where there was no Node.
   */
  cleared: z.object({ version: z.string(), bootId: z.string(), at: z.string() }).optional(),
  /** Why it ended without success. */
  failure: z.object({ phase: z.enum(inPlacePhases), code: z.string(), message: z.string() }).optional(),
  /** A person asked for the end of it (`ipb abort`). */
  isAborted: z.boolean().default(false),
  /** Completes "waits for …". */
  waitsFor: z.string().default(''),
  report: reportOfAttempt.prefault({}),
});
export type AttemptSpec = z.infer<typeof specOfAttempt>;
export type AttemptStatus = z.infer<typeof statusOfAttempt>;
export type AttemptReport = z.infer<typeof reportOfAttempt>;

export interface InPlaceAttempt {
  readonly name: string;
  readonly spec: AttemptSpec;
  readonly status: AttemptStatus;
}

/** `<node>.<attempt>`, where the attempt is shortened: names of objects have a limit. */
export function attemptName(node: string, attemptId: string): string {
  return `${node}.${attemptId.slice(0, 8)}`;
}

/** Undefined where it is no attempt. */
export function readAttempt(object: {
  readonly metadata: { readonly name: string };
  readonly [field: string]: unknown;
}): InPlaceAttempt | undefined {
  const spec = specOfAttempt.safeParse(object['spec']).data;
  const status = statusOfAttempt.safeParse(object['status'] ?? {}).data;
  return spec === undefined || status === undefined ? undefined : { name: object.metadata.name, spec, status };
}

/** The annotation `status` of a Node. */
const inPlaceStatusSchema = z.object({
  attempt: z.string(),
  phase: z.enum(inPlacePhases),
  at: z.string(),
  message: z.string().optional(),
});
export type InPlaceStatus = z.infer<typeof inPlaceStatusSchema>;

export function readInPlaceStatus(annotation: string | undefined): InPlaceStatus | undefined {
  return inPlaceStatusSchema.safeParse(jsonIfValid(annotation ?? '')).data;
}

/** Files of the bootstrapper on a host. */
export const inPlaceFiles = {
  folder: '/var/lib/ipb',
  /** The attempt of this machine, as `HostAttempt`; written with fsync before every step that it names. */
  state: '/var/lib/ipb/state.json',
  /** Held by whoever works on an attempt. */
  lock: '/var/lib/ipb/lock',
} as const;

/** Of one attempt, below `/var/lib/ipb/<attempt>`; the folder is removed when the attempt has ended well. */
export function attemptFiles(attemptId: string) {
  const folder = `${inPlaceFiles.folder}/${attemptId}`;
  return {
    folder,
    /** The grant, the facts and the digests of the program: what the unit needs from the pod. 0600. */
    settings: `${folder}/settings.json`,
    /** The program that the pod brought, as `copyProgram` makes it; `launcher` in it starts it. */
    program: `${folder}/program`,
    /** The Ignition config that was downloaded. 0600. */
    ignition: `${folder}/payload.ign`,
    /** The payload of the other route, as downloaded and unpacked. */
    archive: `${folder}/payload.tar.gz`,
    payload: `${folder}/payload`,
    /** The daemon that was taken from the release image which the Ignition config names. */
    daemon: `${folder}/daemon`,
    /** Reports that no server has confirmed yet. */
    spool: `${folder}/spool`,
    log: `${folder}/log`,
  } as const;
}

/** Units on the host, each with the attempt as its instance. */
export const inPlaceUnits = {
  /** Until the new configuration is booted. It is ordered before agent and kubelet: neither starts while it works. */
  run: (attemptId: string) => `ipb-run@${attemptId}.service`,
  /** From the start of the kubelet to the end of the attempt. */
  finish: (attemptId: string) => `ipb-finish@${attemptId}.service`,
} as const;

/** The contents of `releaseReferenceFile`. */
export const releaseReferenceSchema = z.object({
  /** Both by digest. The daemon is in the second. */
  releaseImage: z.string(),
  daemonImage: z.string(),
});
export type ReleaseReference = z.infer<typeof releaseReferenceSchema>;

/** What the unit on the host needs, and all that it needs. Written by the pod, or over SSH where there is no pod. */
export const attemptSettingsSchema = z.object({
  attemptId: z.string(),
  node: z.string(),
  isAdoption: z.boolean(),
  facts: inPlaceFactsSchema,
  grant: reporterGrantSchema,
  /** The image that the program comes from, by digest. Absent: nobody knows, and the named one is taken. */
  programImage: z.string().optional(),
  /** The last event that the pod reported: the unit goes on after it. */
  lastSeq: z.int().min(0),
  /** File → SHA-256 of everything in the program folder. */
  programDigests: z.record(z.string(), z.string()),
});
export type AttemptSettings = z.infer<typeof attemptSettingsSchema>;

/** The state file of a host. Phases never go back within an attempt. */
export const hostAttemptSchema = z.object({
  attemptId: z.string(),
  os: z.enum(inPlaceSystems),
  phase: z.enum(inPlacePhases),
  since: z.iso.datetime(),
  /** Of the boot in which the phase began: a reboot is proven by another one. */
  bootId: z.string(),
  /** The seq of the last event that was written to the spool. */
  seq: z.int().min(0),
  history: z.array(z.object({ phase: z.enum(inPlacePhases), at: z.iso.datetime(), bootId: z.string() })),
  failure: z.object({ phase: z.enum(inPlacePhases), code: z.string(), message: z.string() }).optional(),
});
export type HostAttempt = z.infer<typeof hostAttemptSchema>;

/** In a program folder (`program`, `daemon`): a script that starts the program with the words it is given. */
export const programLauncher = 'firstlight';
