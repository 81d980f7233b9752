// The readiness probes of bootkube for etcd and API servers.
import { etcdPorts } from '../contract/ports.ts';
import { pkiFolder } from '../control-plane/control-plane-paths.ts';
import type { Host } from '../host/host.ts';
import type { ReadinessProbe } from '../kubernetes/readiness.ts';

export const probeTimeoutMs = 2_000;

export const etcdProbe: ReadinessProbe = {
  name: 'etcd',
  request: { url: `http://127.0.0.1:${etcdPorts.metrics}/readyz`, timeoutMs: probeTimeoutMs },
};

/** A probe of one API server; its name is the URL of the server. */
export function apiProbe(url: string, ca: string): ReadinessProbe {
  return { name: url, request: { url: `${url}/readyz`, ca, timeoutMs: probeTimeoutMs } };
}

/** The authority that signs the certificates of all API servers of the cluster. */
export function readApiCa({ files }: Pick<Host, 'files'>): Promise<string> {
  return files.readText(`${pkiFolder}/apiserver-ca.crt`);
}
