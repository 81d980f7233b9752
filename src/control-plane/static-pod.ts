// A control-plane component as a static pod: one container on the host's network, under a user of its own, without
// capabilities, that sees of the host its own folders and nothing else. It refers to no API object: the kubelet rejects
// such static pods since 1.34, and a control plane must start without an API. Probes run every second, because the
// handoff waits for them. Liveness never depends on quorum: a lost quorum must not kill pods.
import { systemNamespace } from '../contract/cluster-objects.ts';
import { type ControlPlaneComponent, holdingOf } from './component-holdings.ts';
import { componentFolder } from './control-plane-paths.ts';

export interface HttpProbe {
  readonly path: string;
  readonly port: number;
  readonly scheme: 'HTTP' | 'HTTPS';
  readonly host?: string;
}

/** What of a pod follows from the component and the machine alone: user, folders of the host, probes. */
export interface SkeletonOptions {
  readonly component: ControlPlaneComponent;
  /** On the bootstrap machine pod and container are called `COMPONENT-bootstrap`, as `crictl ps` shows them there. */
  readonly isBootstrap?: boolean | undefined;
  readonly startup: HttpProbe;
  readonly liveness: HttpProbe;
  readonly readiness?: HttpProbe;
  readonly cpuRequest: string;
}

/** What makes a skeleton a pod that can run. */
export interface ProgramOptions {
  readonly image: string;
  readonly command: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
}

export type StaticPodOptions = SkeletonOptions & ProgramOptions;

export interface PodSkeleton {
  readonly [field: string]: unknown;
  readonly spec: {
    readonly [field: string]: unknown;
    readonly containers: readonly { readonly [field: string]: unknown }[];
  };
}

interface HostFolder {
  readonly path: string;
  readonly isWritable: boolean;
}

/** The folders of the host that the container of a component sees, under the same paths. */
function foldersOf(component: ControlPlaneComponent): readonly HostFolder[] {
  return [
    { path: componentFolder(component), isWritable: false },
    ...holdingOf(component).writes.map((path) => ({ path, isWritable: true })),
  ];
}

export function staticPod(options: StaticPodOptions): object {
  return completedPod(podSkeleton(options), options);
}

/** The same pod, with the program that its container runs. */
export function completedPod(skeleton: PodSkeleton, { image, command, environment = {} }: ProgramOptions): object {
  const env = Object.entries(environment).map(([name, value]) => ({ name, value }));
  const containers = skeleton.spec.containers.map(({ name, imagePullPolicy, ...rest }) => ({
    name,
    image,
    imagePullPolicy,
    command,
    ...(env.length === 0 ? {} : { env }),
    ...rest,
  }));
  return { ...skeleton, spec: { ...skeleton.spec, containers } };
}

export function podSkeleton(options: SkeletonOptions): PodSkeleton {
  const { component } = options;
  const { uid } = holdingOf(component);
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: podName(options),
      namespace: systemNamespace,
      labels: { component, tier: 'control-plane' },
      // Shows in `kubectl get pods` who wrote the pod; the kubelet ignores it.
      annotations: { 'firstlight.io/written-by': 'firstlight' },
    },
    spec: {
      hostNetwork: true,
      priorityClassName: 'system-node-critical',
      priority: 2_000_001_000,
      securityContext: {
        runAsNonRoot: true,
        runAsUser: uid,
        runAsGroup: uid,
        seccompProfile: { type: 'RuntimeDefault' },
      },
      terminationGracePeriodSeconds: 30,
      containers: [container(options)],
      // They are made before the pod is written, for its user; a kubelet would make them for root.
      volumes: foldersOf(component).map(({ path }, index) => ({
        name: `host-${index}`,
        hostPath: { path, type: 'Directory' },
      })),
    },
  };
}

function podName({ component, isBootstrap = false }: SkeletonOptions): string {
  return isBootstrap ? `${component}-bootstrap` : component;
}

/** For every container of a control-plane machine that holds keys. */
export const confinedContainer = {
  allowPrivilegeEscalation: false,
  readOnlyRootFilesystem: true,
  capabilities: { drop: ['ALL'] },
} as const;

function container(options: SkeletonOptions): { readonly [field: string]: unknown } {
  const { readiness } = options;
  return {
    name: podName(options),
    imagePullPolicy: 'IfNotPresent',
    resources: { requests: { cpu: options.cpuRequest } },
    startupProbe: { ...httpGet(options.startup), periodSeconds: 1, failureThreshold: 240, timeoutSeconds: 15 },
    livenessProbe: { ...httpGet(options.liveness), periodSeconds: 10, failureThreshold: 8, timeoutSeconds: 15 },
    ...(readiness === undefined
      ? {}
      : { readinessProbe: { ...httpGet(readiness), periodSeconds: 1, failureThreshold: 3, timeoutSeconds: 15 } }),
    securityContext: confinedContainer,
    volumeMounts: foldersOf(options.component).map(({ path, isWritable }, index) => ({
      name: `host-${index}`,
      mountPath: path,
      ...(isWritable ? {} : { readOnly: true }),
    })),
  };
}

function httpGet({ path, port, scheme, host }: HttpProbe): object {
  return { httpGet: { path, port, scheme, ...(host === undefined ? {} : { host }) } };
}

/** No flag where no gate is set. */
export function featureGateFlags(gates: Readonly<Record<string, boolean>> = {}): Readonly<Record<string, string>> {
  const list = Object.entries(gates).map(([name, isOn]) => `${name}=${isOn}`);
  return list.length === 0 ? {} : { 'feature-gates': list.join(',') };
}

/** Flags as a command line: `--name=value`, in the order given. */
export function commandLine(program: string, flags: Readonly<Record<string, string>>): readonly string[] {
  return [program, ...Object.entries(flags).map(([name, value]) => `--${name}=${value}`)];
}
