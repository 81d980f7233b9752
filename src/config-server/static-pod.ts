// The config server as a static pod, for machines that run everything in containers: the same program and arguments as
// machine-config-server.service. Only one of the two may run on a machine, because there is one port. It sees the keys
// that it gives to masters and its own pair, but no other key of the machine. Those files are root's, so it runs as
// root, without any capability.
import { dirname } from 'node:path';
import { systemNamespace } from '../contract/cluster-objects.ts';
import { configServerFolder, configServerPaths } from '../contract/machine-paths.ts';
import { configServerLocalPort } from '../contract/ports.ts';
import { confinedContainer } from '../control-plane/static-pod.ts';
import { configServerEnvironment } from '../machine-software/bootstrap-units.ts';

export interface ConfigServerPodOptions {
  /** The release's image of this program, whose entry point it is. */
  readonly image: string;
}

interface HostFolder {
  readonly name: string;
  readonly path: string;
  readonly isWritable?: boolean;
}

const folders: readonly HostFolder[] = [
  { name: 'settings', path: configServerFolder },
  { name: 'keys', path: configServerPaths.pkiFolder },
  { name: 'rendered', path: configServerPaths.renderedFolder },
  { name: 'served', path: dirname(configServerPaths.tokenLedger), isWritable: true },
];

export function machineConfigServerPod({ image }: ConfigServerPodOptions): object {
  const probe = (path: string): object => ({
    httpGet: { path, port: configServerLocalPort, scheme: 'HTTP', host: '127.0.0.1' },
  });
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: 'machine-config-server',
      namespace: systemNamespace,
      labels: { component: 'machine-config-server', tier: 'control-plane' },
    },
    spec: {
      hostNetwork: true,
      priorityClassName: 'system-node-critical',
      priority: 2_000_001_000,
      securityContext: { seccompProfile: { type: 'RuntimeDefault' } },
      terminationGracePeriodSeconds: 15,
      containers: [
        {
          name: 'machine-config-server',
          image,
          imagePullPolicy: 'IfNotPresent',
          args: ['machine-config', 'serve', '--settings', configServerPaths.settings],
          env: Object.entries(configServerEnvironment).map(([name, value]) => ({ name, value })),
          resources: { requests: { cpu: '20m', memory: '100Mi' } },
          // A server that has nothing to serve yet must not be restarted for that.
          livenessProbe: { ...probe('/livez'), periodSeconds: 10, failureThreshold: 6, timeoutSeconds: 5 },
          readinessProbe: { ...probe('/healthz'), periodSeconds: 1, failureThreshold: 2, timeoutSeconds: 5 },
          securityContext: confinedContainer,
          volumeMounts: folders.map(({ name, path, isWritable }) => ({
            name,
            mountPath: path,
            ...(isWritable === true ? {} : { readOnly: true }),
          })),
        },
      ],
      // The last two may be made later than the pod.
      volumes: folders.map(({ name, path }) => ({ name, hostPath: { path, type: 'DirectoryOrCreate' } })),
    },
  };
}
