// The ports on which programs of a cluster meet. Units, pods, load balancer, name checks and clients all use these.

/** The Kubernetes API, on every control-plane machine and on the load balancer. */
export const apiPort = 6443;
/** The config server, on every control-plane machine and on the load balancer. */
export const configServerPort = 22_623;
/** Loopback port of the config server: /metrics, and a /healthz that says what is missing. */
export const configServerLocalPort = 22_690;

/** `https://10.0.0.1:6443`, and an IPv6 address in brackets. */
export function httpsUrl(address: string, port: number): string {
  return `https://${address.includes(':') ? `[${address}]` : address}:${port}`;
}

/** What the kube-apiserver of this very machine is called by programs that run beside it. */
export const localApiUrl = `https://localhost:${apiPort}`;

/** Clients and peers of etcd; metrics and health answer on loopback, without TLS. */
export const etcdPorts = { client: 2379, peer: 2380, metrics: 2381 } as const;

/** Health of the two on loopback, which is also where each of them is seen to have ended. */
export const controllerManagerPort = 10_257;
export const schedulerPort = 10_259;
