// The ports on which programs of a cluster meet. Units, pods, load balancer, name checks and clients all read them here.

/** The Kubernetes API, on every control-plane machine and on the load balancer. */
export const apiPort = 6443;
/** The config server, on every control-plane machine and on the load balancer. */
export const configServerPort = 22_623;
/** Loopback port of the config server: /metrics, and a /healthz that says what is missing. */
export const configServerLocalPort = 22_690;
