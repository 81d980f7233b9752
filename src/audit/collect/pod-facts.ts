// A pod of the API, reduced to what it may do to its node and with its token.
import { z } from 'zod';
import type { KubernetesObject } from '../../kubernetes/object.ts';
import type { AuditedContainer, AuditedPod, AuditedServiceAccount } from '../facts.ts';

const securityContext = z.object({
  privileged: z.boolean().nullish(),
  allowPrivilegeEscalation: z.boolean().nullish(),
  runAsUser: z.int().nullish(),
  runAsNonRoot: z.boolean().nullish(),
  capabilities: z.object({ add: z.array(z.string()).nullish(), drop: z.array(z.string()).nullish() }).nullish(),
  seccompProfile: z.object({ type: z.string() }).nullish(),
  windowsOptions: z.object({ hostProcess: z.boolean().nullish() }).nullish(),
});

const container = z.object({
  name: z.string(),
  command: z.array(z.string()).nullish(),
  args: z.array(z.string()).nullish(),
  securityContext: securityContext.nullish(),
  ports: z.array(z.object({ hostPort: z.int().nullish() })).nullish(),
  env: z
    .array(z.object({ valueFrom: z.object({ secretKeyRef: z.object({ name: z.string() }).nullish() }).nullish() }))
    .nullish(),
  envFrom: z.array(z.object({ secretRef: z.object({ name: z.string() }).nullish() })).nullish(),
});

const podSpec = z.object({
  nodeName: z.string().nullish(),
  serviceAccountName: z.string().nullish(),
  automountServiceAccountToken: z.boolean().nullish(),
  hostNetwork: z.boolean().nullish(),
  hostPID: z.boolean().nullish(),
  hostIPC: z.boolean().nullish(),
  securityContext: securityContext.nullish(),
  volumes: z.array(z.object({ hostPath: z.object({ path: z.string() }).nullish() })).nullish(),
  containers: z.array(container),
  initContainers: z.array(container).nullish(),
  ephemeralContainers: z.array(container).nullish(),
});

type PodSpec = z.output<typeof podSpec>;
type Container = z.output<typeof container>;

/** The kubelet shows a pod of a file in the API with these; the hash is also the name of its cgroup. */
const mirrorAnnotation = 'kubernetes.io/config.mirror';
const hashAnnotation = 'kubernetes.io/config.hash';

/** Throws where the API says something that is no pod. */
export function auditedPod(
  { metadata, ...pod }: KubernetesObject,
  accounts: readonly AuditedServiceAccount[],
): AuditedPod {
  const spec = podSpec.parse(pod['spec']);
  const { name, namespace = '', annotations = {} } = metadata;
  const isStatic = annotations[mirrorAnnotation] !== undefined;
  const serviceAccount = spec.serviceAccountName ?? 'default';
  const account = accounts.find((each) => each.namespace === namespace && each.name === serviceAccount);
  const staticUid = annotations[hashAnnotation];
  const containers = [...spec.containers, ...(spec.initContainers ?? []), ...(spec.ephemeralContainers ?? [])];
  return {
    name,
    namespace,
    node: spec.nodeName ?? '',
    ...(isStatic && staticUid !== undefined ? { staticUid } : {}),
    serviceAccount,
    // The API adds no token to the pod of a file.
    mountsToken: !isStatic && (spec.automountServiceAccountToken ?? account?.mountsToken ?? true),
    hostNetwork: spec.hostNetwork ?? false,
    hostPid: spec.hostPID ?? false,
    hostIpc: spec.hostIPC ?? false,
    hostPaths: (spec.volumes ?? []).flatMap(({ hostPath }) => (hostPath ? [hostPath.path] : [])),
    containers: containers.map((each) => ({
      ...auditedContainer(spec, each),
      ...(isStatic ? { arguments: [...(each.command ?? []), ...(each.args ?? [])].slice(1) } : {}),
    })),
  };
}

/** What a container does not say, its pod says for it. */
function auditedContainer({ securityContext: ofPod }: PodSpec, each: Container): AuditedContainer {
  const own = each.securityContext;
  const runAsUser = own?.runAsUser ?? ofPod?.runAsUser;
  const seccompProfile = own?.seccompProfile?.type ?? ofPod?.seccompProfile?.type;
  const isPrivileged = own?.privileged ?? false;
  return {
    name: each.name,
    isPrivileged,
    mayEscalate: isPrivileged || (own?.allowPrivilegeEscalation ?? true),
    ...(typeof runAsUser === 'number' ? { runAsUser } : {}),
    runAsNonRoot: own?.runAsNonRoot ?? ofPod?.runAsNonRoot ?? false,
    addedCapabilities: own?.capabilities?.add ?? [],
    droppedCapabilities: own?.capabilities?.drop ?? [],
    hostPorts: (each.ports ?? []).flatMap(({ hostPort }) => (hostPort ? [hostPort] : [])),
    isHostProcess: own?.windowsOptions?.hostProcess ?? ofPod?.windowsOptions?.hostProcess ?? false,
    ...(seccompProfile === undefined ? {} : { seccompProfile }),
    hasSecurityContext: own != null || Object.keys(ofPod ?? {}).length > 0,
    secretVariables: [
      ...(each.env ?? []).flatMap(({ valueFrom }) => valueFrom?.secretKeyRef?.name ?? []),
      ...(each.envFrom ?? []).flatMap(({ secretRef }) => secretRef?.name ?? []),
    ],
  };
}
