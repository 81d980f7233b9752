// The cluster's load balancer as data: haproxy's configuration. It is changed by nothing but its own health checks,
// over TLS and several times a second, so a handoff needs no command: a backend that stops being ready is left out.
import { apiPort, configServerPort } from '../../contract/ports.ts';
import type { LocalMachine } from './local-machine.ts';

export interface LoadBalancerInput {
  readonly switchAddress: string;
  readonly machines: readonly Pick<LocalMachine, 'name' | 'role' | 'address'>[];
  /** Unix socket through which the host's loopback port reaches the API. */
  readonly apiSocket: string;
}

// nobody, by number: the name of its group differs between distributions.
const unprivileged = ['uid 65534', 'gid 65534'];

// Into its log file: when a backend began and ceased to be used is nowhere else on record.
const log = '  log stdout format iso local0 notice';

const defaults = [
  'defaults',
  '  log global',
  '  mode tcp',
  '  timeout connect 2s',
  // Watches are silent for long; TCP keep-alive finds peers that died.
  '  timeout client 24h',
  '  timeout server 24h',
  '  timeout check 1s',
  '  option clitcpka',
  '  option srvtcpka',
  // Whoever is refused by one machine is sent to another at once, not after three seconds of asking the same.
  '  option redispatch 1',
  '  retries 3',
];

// Both are behind TLS that ends on the machine, so the check speaks TLS too; whose certificate it is matters to the
// clients, who verify it, not to the question whether the backend is ready.
// `inter` is also all the time that haproxy gives a check to connect and shake hands: much less than this, and a host
// whose processors are busy for a moment takes every backend out. Whoever is out, or failed once, is asked more often.
const healthCheck = 'check check-ssl verify none inter 600ms fastinter 200ms downinter 200ms rise 1';
// A master that hangs is left within two seconds, and its clients are sent elsewhere.
const ofMasters = 'fall 2 on-marked-down shutdown-sessions';
// There may be nobody else yet, so a slow answer is borne longer and no connection is cut; when it lets go, its API says
// so for two seconds, and closes what is open by itself.
const ofBootstrap = 'fall 5';

export function loadBalancerConfig({ switchAddress, machines, apiSocket }: LoadBalancerInput): string {
  const backends = machines.filter((machine) => machine.role !== 'worker');
  const servers = (port: number, options: string): readonly string[] =>
    backends.map(({ name, role, address }) => {
      const patience = role === 'bootstrap' ? ofBootstrap : ofMasters;
      return `  server ${name} ${address}:${port} ${patience}${options}`;
    });
  return [
    'global',
    log,
    ...unprivileged.map((line) => `  ${line}`),
    ...defaults,
    'frontend api',
    `  bind ${switchAddress}:${apiPort}`,
    `  bind unix@${apiSocket} mode 666`,
    '  default_backend api',
    'backend api',
    '  option httpchk GET /readyz',
    '  http-check expect status 200',
    `  default-server ${healthCheck}`,
    ...servers(apiPort, ''),
    'frontend config-server',
    `  bind ${switchAddress}:${configServerPort}`,
    '  default_backend config-server',
    'backend config-server',
    '  option httpchk GET /healthz',
    '  http-check expect status 200',
    `  default-server ${healthCheck}`,
    // The config server believes a source address only when it comes from here.
    ...servers(configServerPort, ' send-proxy-v2'),
    '',
  ].join('\n');
}

/** The relay between the host's loopback and the switch: the only thing of a cluster that the host can connect to. */
export function hostPortConfig(input: { readonly hostPort: number; readonly apiSocket: string }): string {
  return [
    'global',
    ...unprivileged.map((line) => `  ${line}`),
    ...defaults,
    'listen api',
    `  bind 127.0.0.1:${input.hostPort}`,
    `  server switch unix@${input.apiSocket}`,
    '',
  ].join('\n');
}
