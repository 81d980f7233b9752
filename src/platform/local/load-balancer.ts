// The cluster's load balancer as data: haproxy's configuration. Only its health checks, over TLS and several times a
// second, decide which machine it uses. So a handoff needs no command: a machine that is no longer ready is left out.
import { apiPort, configServerPort } from '../../contract/ports.ts';
import type { LocalMachine } from './local-machine.ts';

export interface LoadBalancerInput {
  readonly switchAddress: string;
  readonly machines: readonly Pick<LocalMachine, 'name' | 'role' | 'address'>[];
  /** Unix socket through which the host's loopback port reaches the API. */
  readonly apiSocket: string;
}

// The user `nobody` by number, because the name of its group differs between distributions.
const unprivileged = ['uid 65534', 'gid 65534'];

// The waterfall reads from the log when a machine was used: this is recorded nowhere else.
const log = '  log stdout format iso local0 notice';

const defaults = [
  'defaults',
  '  log global',
  '  mode tcp',
  '  timeout connect 2s',
  // A watch may be silent for hours; TCP keep-alive finds peers that died.
  '  timeout client 24h',
  '  timeout server 24h',
  '  timeout check 1s',
  '  option clitcpka',
  '  option srvtcpka',
  // A connection that one machine refuses goes to another at once, instead of being tried there for three seconds.
  '  option redispatch 1',
  '  retries 3',
];

// TLS ends on the machine, so the check speaks TLS too. It does not verify the certificate: clients do that, and the
// check only asks whether the machine is ready. `inter` is also the whole time that haproxy gives a check to connect
// and to shake hands: with much less, a host whose processors are busy for a moment loses every machine. A machine that
// is out, or failed one check, is checked more often.
const healthCheck = 'check check-ssl verify none inter 600ms fastinter 200ms downinter 200ms rise 1';
// A master that hangs is left out within two seconds, and its connections are closed so that clients connect elsewhere.
const ofMasters = 'fall 2 on-marked-down shutdown-sessions';
// While no master serves, only the bootstrap machine does, so more slow answers are accepted and no connection is cut.
// When its API stops, it fails its checks for two seconds first and then closes its connections itself.
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
    // The config server accepts the client's address (PROXY protocol) only from the load balancer.
    ...servers(configServerPort, ' send-proxy-v2'),
    '',
  ].join('\n');
}

/** The relay from the host's loopback to the switch: the only way from the host into the network of a cluster. */
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
