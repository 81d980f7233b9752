// kube-scheduler of one machine: one of them leads, the others wait.
import { schedulerPort } from '../contract/ports.ts';
import { kubernetesTlsFlags } from '../contract/tls-policy.ts';
import { componentKubeconfig } from './control-plane-paths.ts';
import { commandLine, featureGateFlags, staticPod } from './static-pod.ts';

export interface SchedulerPodOptions {
  readonly image: string;
  readonly featureGates?: Readonly<Record<string, boolean>>;
  readonly isBootstrap?: boolean;
}

export function schedulerPod({ image, featureGates, isBootstrap }: SchedulerPodOptions): object {
  const probe = (path: string) => ({ path, port: schedulerPort, scheme: 'HTTPS', host: '127.0.0.1' }) as const;
  const kubeconfig = componentKubeconfig('kube-scheduler');
  return staticPod({
    component: 'kube-scheduler',
    isBootstrap,
    image,
    command: commandLine('kube-scheduler', {
      kubeconfig,
      'authentication-kubeconfig': kubeconfig,
      'authorization-kubeconfig': kubeconfig,
      'bind-address': '127.0.0.1',
      'leader-elect': 'true',
      profiling: 'false',
      ...kubernetesTlsFlags,
      ...featureGateFlags(featureGates),
    }),
    startup: probe('/livez'),
    liveness: probe('/livez'),
    readiness: probe('/readyz'),
    cpuRequest: '100m',
  });
}
