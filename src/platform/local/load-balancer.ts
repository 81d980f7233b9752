// The cluster's load balancer as data: haproxy's configuration. Only its health checks, over TLS and several times a
// second, decide which machine it uses. So a handoff needs no command: a machine that is no longer ready is left out.
// A check decides about new connections only: it never cuts one, and when no machine passes, all of them are used.
import { join } from 'node:path';
import { apiPort, configServerPort } from '../../contract/ports.ts';
import type { LocalMachine } from './local-machine.ts';

export interface LoadBalancerInput {
  readonly switchAddress: string;
  readonly machines: readonly Pick<LocalMachine, 'name' | 'role' | 'address'>[];
  /** For the Unix sockets through which ports of the host's loopback reach the cluster. */
  readonly socketFolder: string;
}

/** What of a cluster the host reaches by ports of its loopback. */
export type HostService = 'api' | 'ingress-http' | 'ingress-https' | 'registry-push';

const socketOf = (folder: string, service: HostService): string => join(folder, `${service}.sock`);
export function socketBind(folder: string, service: HostService): string {
  return `unix@${socketOf(folder, service)} mode 666`;
}

// The user `nobody` by number, because the name of its group differs between distributions.
const unprivileged = ['uid 65534', 'gid 65534'];

/**
 * After another configuration took over, the old process ends when its last connection does, and after this time with
 * the connections that are left: a client that stayed would otherwise hold it for as long as its watch lasts. An
 * ordinary request has ended by then (kube-apiserver gives it a minute); watches are taken up where they were.
 */
const softStopEnds = '  hard-stop-after 60s';

// The waterfall reads from the log when a machine was used: this is recorded nowhere else.
const log = '  log stdout format iso local0 notice';

const defaults = [
  'defaults',
  '  log global',
  '  mode tcp',
  '  timeout connect 2s',
  // A watch may be silent for hours. Only the kernel of a peer can say that it died: see `deadPeer`.
  '  timeout client 24h',
  '  timeout server 24h',
  '  timeout check 1s',
  '  option clitcpka',
  '  option srvtcpka',
  '  srvtcpka-idle 10s',
  '  srvtcpka-intvl 5s',
  '  srvtcpka-cnt 3',
  // A connection that one machine refuses goes to another at once, instead of being tried there for three seconds.
  '  option redispatch 1',
  '  retries 3',
];

/** Of every process that balances in the switch. */
export const balancerSettings: readonly string[] = [
  'global',
  log,
  softStopEnds,
  ...unprivileged.map((line) => `  ${line}`),
  ...defaults,
];

// TLS ends on the machine, so the check speaks TLS too. It does not verify the certificate: clients do that, and the
// check only asks whether the machine is ready. `inter` is also the whole time that haproxy gives a check to connect
// and to shake hands. A machine that is out, or failed one check, is checked more often.
const healthCheck = 'check check-ssl verify none inter 600ms fastinter 200ms downinter 200ms rise 1';
// A machine whose kernel has not answered for so long is dead; a kernel answers also while its programs are slow.
export const deadPeer = 'tcp-ut 20s';
// A master that hangs gets no new connection after two seconds. One that is only slow may look the same: it keeps the
// connections that it has, and gets new ones when no other machine is quicker.
const ofMasters = 'fall 2';
// While no master serves, only the bootstrap machine does, so more slow answers are accepted. When its API stops, it
// fails its checks for two seconds first and then closes its connections itself.
const ofBootstrap = 'fall 5';

interface BalancedPort {
  readonly name: 'api' | 'config-server';
  readonly binds: readonly string[];
  readonly port: number;
  readonly healthPath: string;
  /** For the server lines. */
  readonly options: string;
}

type Backend = LoadBalancerInput['machines'][number];

/** Two backends with the same machines: those that pass their checks, and, when none does, all of them. */
function balancedPort(
  { name, binds, port, healthPath, options }: BalancedPort,
  machines: readonly Backend[],
): string[] {
  const line = ({ name: machine, address }: Backend, checked: string): string =>
    `  server ${machine} ${address}:${port} ${checked}${deadPeer}${options}`;
  return [
    `frontend ${name}`,
    ...binds.map((bind) => `  bind ${bind}`),
    `  use_backend ${name} if { nbsrv(${name}) gt 0 }`,
    `  default_backend ${name}-unchecked`,
    `backend ${name}`,
    `  option httpchk GET ${healthPath}`,
    '  http-check expect status 200',
    `  default-server ${healthCheck}`,
    ...machines.map((machine) => line(machine, machine.role === 'bootstrap' ? `${ofBootstrap} ` : `${ofMasters} `)),
    `backend ${name}-unchecked`,
    // Whoever refuses is passed over: every machine gets its turn, and one that is not there costs little of the time.
    '  timeout connect 500ms',
    `  retries ${2 * machines.length}`,
    ...machines.map((machine) => line(machine, '')),
  ];
}

export function loadBalancerConfig({ switchAddress, machines, socketFolder }: LoadBalancerInput): string {
  const backends = machines.filter((machine) => machine.role !== 'worker');
  const api: BalancedPort = {
    name: 'api',
    binds: [`${switchAddress}:${apiPort}`, socketBind(socketFolder, 'api')],
    port: apiPort,
    healthPath: '/readyz',
    options: '',
  };
  const configServer: BalancedPort = {
    name: 'config-server',
    binds: [`${switchAddress}:${configServerPort}`],
    port: configServerPort,
    healthPath: '/healthz',
    // The config server accepts the client's address (PROXY protocol) only from the load balancer.
    options: ' send-proxy-v2',
  };
  return [...balancerSettings, ...balancedPort(api, backends), ...balancedPort(configServer, backends), ''].join('\n');
}

export interface HostPortsInput {
  readonly ports: Readonly<Record<HostService, number>>;
  readonly socketFolder: string;
}

/** The relay from the host's loopback to the switch: the only way from the host into the network of a cluster. */
export function hostPortConfig({ ports, socketFolder }: HostPortsInput): string {
  return [
    'global',
    softStopEnds,
    ...unprivileged.map((line) => `  ${line}`),
    ...defaults,
    ...(Object.keys(ports) as HostService[]).flatMap((service) => [
      `listen ${service}`,
      `  bind 127.0.0.1:${ports[service]}`,
      `  server switch unix@${socketOf(socketFolder, service)}`,
    ]),
    '',
  ].join('\n');
}
