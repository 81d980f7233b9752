// The ports on which programs of a cluster meet. Units, pods, load balancer, name checks and clients all read them here.

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
