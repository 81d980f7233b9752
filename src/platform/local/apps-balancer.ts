// The load balancer of applications as data: haproxy's configuration for ingress and registry. A process of its own,
// because every machine that comes or goes changes it, and clients of the API must not notice that.
import { ingressHealthPath, ingressNodePorts, registryNodePorts, registryPort } from '../../contract/ports.ts';
import { balancerSettings, deadPeer, type LoadBalancerInput, socketBind } from './load-balancer.ts';

export function appsBalancerConfig(input: LoadBalancerInput): string {
  const nodes = input.machines.filter(({ role }) => role !== 'bootstrap');
  return [...balancerSettings, ...ingressPorts(input, nodes), ...registryPorts(input, nodes), ''].join('\n');
}

// The ingress controller runs on some machines only, and moves: a machine without it refuses the port of the check. The
// check is of the controller itself, so one that is about to end gets no new connection while it still serves.
const ingressCheck = 'check inter 600ms fastinter 200ms downinter 1s rise 1 fall 2';

/** Ports 80 and 443, of every machine that may be a node. One check of a machine is for both. */
function ingressPorts(
  { switchAddress, socketFolder }: LoadBalancerInput,
  nodes: LoadBalancerInput['machines'],
): string[] {
  const ports = [
    { name: 'ingress-http', port: 80, nodePort: ingressNodePorts.http },
    { name: 'ingress-https', port: 443, nodePort: ingressNodePorts.https },
  ] as const;
  return [
    ...ports.flatMap(({ name, port, nodePort }) => [
      `frontend ${name}`,
      `  bind ${switchAddress}:${port}`,
      `  bind ${socketBind(socketFolder, name)}`,
      `  default_backend ${name}`,
      `backend ${name}`,
      ...nodes.map(
        ({ name: machine, address }) =>
          `  server ${machine} ${address}:${nodePort} track ingress-health/${machine} ${deadPeer}`,
      ),
    ]),
    'backend ingress-health',
    `  option httpchk GET ${ingressHealthPath}`,
    '  http-check expect status 200',
    `  default-server ${ingressCheck}`,
    ...nodes.map(({ name, address }) => `  server ${name} ${address}:${ingressNodePorts.health}`),
  ];
}

/**
 * Every node leads to the one pod of the registry; whether it does is asked of the server that everybody may pull from.
 * Machines pull at the port of the switch. Who pushes comes from the host.
 */
function registryPorts(
  { switchAddress, socketFolder }: LoadBalancerInput,
  nodes: LoadBalancerInput['machines'],
): string[] {
  return [
    'frontend registry-pull',
    `  bind ${switchAddress}:${registryPort}`,
    '  default_backend registry-pull',
    'backend registry-pull',
    '  option httpchk GET /v2/',
    '  http-check expect status 200',
    `  default-server check check-ssl verify none inter 2s fastinter 500ms downinter 2s rise 1 fall 2`,
    ...nodes.map(({ name, address }) => `  server ${name} ${address}:${registryNodePorts.pull} ${deadPeer}`),
    'frontend registry-push',
    `  bind ${socketBind(socketFolder, 'registry-push')}`,
    '  default_backend registry-push',
    'backend registry-push',
    ...nodes.map(
      ({ name, address }) =>
        `  server ${name} ${address}:${registryNodePorts.push} track registry-pull/${name} ${deadPeer}`,
    ),
  ];
}
