// The ports of a cluster's programs. Units, pods, load balancer, name checks and clients all take them from this file.

/** The Kubernetes API, on every control-plane machine and on the load balancer. */
export const apiPort = 6443;
/** The config server, on every control-plane machine and on the load balancer. */
export const configServerPort = 22_623;
/** Loopback port of the config server: /metrics, and a /healthz that lists what is missing. */
export const configServerLocalPort = 22_690;

/** `https://10.0.0.1:6443`; an IPv6 address gets brackets. */
export function httpsUrl(address: string, port: number): string {
  return `https://${address.includes(':') ? `[${address}]` : address}:${port}`;
}

/** The URL of the kube-apiserver on the same machine. */
export const localApiUrl = `https://localhost:${apiPort}`;

/** The ports of etcd. Metrics and health are on loopback, without TLS. */
export const etcdPorts = { client: 2379, peer: 2380, metrics: 2381 } as const;

/** kube-proxy says here, to anybody, whether this node serves the Services of the cluster. */
export const kubeProxyHealthPort = 10_256;

/**
 * Ports of every node that lead to the ingress controller, where one of its pods is on the node. They are below those
 * that Kubernetes gives to Services which ask for none.
 */
export const ingressNodePorts = { http: 30_080, https: 30_081, health: 30_082 } as const;
/** What the ingress controller answers on its health port while it takes requests. */
export const ingressHealthPath = '/ping';

/** The registry of the cluster, on the load balancer: as in the names of its images. */
export const registryPort = 5000;
/** Ports of every node that lead to it. Without a password it only gives, with one it also takes. */
export const registryNodePorts = { pull: 30_050, push: 30_051 } as const;

/** Health ports on loopback. A closed port also shows that the program has ended. */
export const controllerManagerPort = 10_257;
export const schedulerPort = 10_259;
