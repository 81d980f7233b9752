// How bootkube asks etcd and API servers whether they are ready.
import { etcdPorts } from '../contract/ports.ts';
import { pkiFolder } from '../control-plane/control-plane-paths.ts';
import type { Host } from '../host/host.ts';
import type { ReadinessProbe } from '../kubernetes/readiness.ts';

export const probeTimeoutMs = 2_000;

export const etcdProbe: ReadinessProbe = {
  name: 'etcd',
  request: { url: `http://127.0.0.1:${etcdPorts.metrics}/readyz`, timeoutMs: probeTimeoutMs },
};

/** An API server, named by the URL that it is asked under. */
export function apiProbe(url: string, ca: string): ReadinessProbe {
  return { name: url, request: { url: `${url}/readyz`, ca, timeoutMs: probeTimeoutMs } };
}

/** The authority that vouches for every API server of the cluster. */
export function readApiCa({ files }: Pick<Host, 'files'>): Promise<string> {
  return files.readText(`${pkiFolder}/apiserver-ca.crt`);
}
