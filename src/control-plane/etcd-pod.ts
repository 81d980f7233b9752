// The static pod of a machine's etcd member. Its flags come from member-flags.ts.
import { etcdPorts } from '../contract/ports.ts';
import { staticPod } from './static-pod.ts';

export interface EtcdPodOptions {
  readonly image: string;
  readonly flags: readonly string[];
  readonly isBootstrap?: boolean;
}

export function etcdPod({ image, flags, isBootstrap }: EtcdPodOptions): object {
  const probe = (path: string) => ({ path, port: etcdPorts.metrics, scheme: 'HTTP', host: '127.0.0.1' }) as const;
  return staticPod({
    component: 'etcd',
    isBootstrap,
    image,
    command: ['etcd', ...flags],
    // /livez needs no quorum; /readyz does.
    startup: probe('/livez'),
    liveness: probe('/livez'),
    readiness: probe('/readyz'),
    // More than an API server: when processors are short, late heartbeats of a leader cause an election and failed
    // writes.
    cpuRequest: '300m',
  });
}
