// kube-scheduler of one machine: one of them leads, the others wait.
import { componentKubeconfig, componentKubeconfigFolder } from './control-plane-paths.ts';
import { commandLine, staticPod } from './static-pod.ts';

export function schedulerPod({ image }: { readonly image: string }): object {
  const probe = (path: string) => ({ path, port: 10_259, scheme: 'HTTPS', host: '127.0.0.1' }) as const;
  const kubeconfig = componentKubeconfig('kube-scheduler');
  return staticPod({
    component: 'kube-scheduler',
    image,
    command: commandLine('kube-scheduler', {
      kubeconfig,
      'authentication-kubeconfig': kubeconfig,
      'authorization-kubeconfig': kubeconfig,
      'bind-address': '127.0.0.1',
      'leader-elect': 'true',
      profiling: 'false',
    }),
    startup: probe('/livez'),
    liveness: probe('/livez'),
    readiness: probe('/readyz'),
    cpuRequest: '100m',
    folders: [{ path: componentKubeconfigFolder, isWritable: false }],
  });
}
