// What `firstlight machine-security` finds out inside a machine. Programs of another version may read it, so fields are
// only added. It contains no secret: of keys only mode and owner, of the encryption configuration only provider names.
import { z } from 'zod';

const owned = { path: z.string(), mode: z.int(), uid: z.int(), gid: z.int() };

/** A file or folder that exists. */
export const ownedFileSchema = z.object(owned);

/** The programs of Kubernetes whose processes are looked at. */
export const auditedPrograms = [
  'kube-apiserver',
  'kube-controller-manager',
  'kube-scheduler',
  'etcd',
  'kubelet',
  'kube-proxy',
] as const;

export type AuditedProgram = (typeof auditedPrograms)[number];

/** From the files that flags of a process name; a part is absent where there is no such flag. */
const settingsSchema = z.object({
  auditPolicy: z.unknown().exactOptional(),
  admission: z.unknown().exactOptional(),
  authentication: z.unknown().exactOptional(),
  encryption: z.array(z.object({ resources: z.array(z.string()), providers: z.array(z.string()) })).exactOptional(),
  metricsBindAddress: z.string().exactOptional(),
});

const processSchema = z.object({
  program: z.enum(auditedPrograms),
  pid: z.int(),
  uid: z.int(),
  /** The pod by its cgroup; absent for a process of a unit. */
  pod: z.string().exactOptional(),
  /** The unit by its cgroup; absent for a process of a pod. */
  unit: z.string().exactOptional(),
  /** Without the program itself. */
  arguments: z.array(z.string()),
  /** Only variables that are settings: those of etcd. */
  variables: z.record(z.string(), z.string()),
  /** What flags name, as the process itself sees it. `digest` only where the file is public: SHA-256. */
  files: z.array(z.object({ ...owned, flag: z.string(), isFolder: z.boolean(), digest: z.string().exactOptional() })),
  settings: settingsSchema,
});

export const securityFactsSchema = z.object({
  hostname: z.string(),
  processes: z.array(processSchema),
  /** Pods that the kubelet reads from files. */
  staticPods: z.array(z.object({ ...owned, containers: z.array(z.string()) })),
  /** Files of the pod network; `plugins` are the types that a file names. */
  networkFiles: z.array(z.object({ ...owned, plugins: z.array(z.string()) })),
  /** The unit of the kubelet and its drop-ins. */
  kubeletUnitFiles: z.array(ownedFileSchema),
  /** Settings of the kubelet: `--config`, and the files of `--config-dir`. */
  kubeletConfigFiles: z.array(ownedFileSchema),
  /** Keys, certificates and kubeconfigs, by what is in them. */
  credentials: z.array(z.object({ ...owned, holds: z.enum(['key', 'certificate', 'kubeconfig']) })),
});

export type SecurityFacts = z.output<typeof securityFactsSchema>;
export type ObservedProcess = SecurityFacts['processes'][number];
export type ProcessSettings = ObservedProcess['settings'];
export type OwnedFile = z.output<typeof ownedFileSchema>;
