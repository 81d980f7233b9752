// The etcd member of a machine. Its flags are the etcd module's business; this is the pod around them.
import { etcdDataFolder, pkiFolder } from './control-plane-paths.ts';
import { commandLine, staticPod } from './static-pod.ts';

export interface EtcdPodOptions {
  readonly image: string;
  /** Without the leading dashes. */
  readonly flags: Readonly<Record<string, string>>;
}

/** The plain port on loopback for probes and metrics. */
export const etcdMetricsPort = 2381;

export function etcdPod({ image, flags }: EtcdPodOptions): object {
  const probe = (path: string) => ({ path, port: etcdMetricsPort, scheme: 'HTTP', host: '127.0.0.1' }) as const;
  return staticPod({
    component: 'etcd',
    image,
    command: commandLine('etcd', flags),
    // /livez needs no quorum; /readyz does.
    startup: probe('/livez'),
    liveness: probe('/livez'),
    readiness: probe('/readyz'),
    cpuRequest: '100m',
    folders: [
      { path: pkiFolder, isWritable: false },
      { path: etcdDataFolder, isWritable: true },
    ],
  });
}
