// How the machine reaches others, and what it listens on.
import { basename } from 'node:path';
import { hostsFile, resolverFile } from '../../../contract/machine-paths.ts';
import type { MachineCollector } from '../machine-collector.ts';

export const networkCollector: MachineCollector = {
  name: 'network',
  takes: 'addresses, routes, name server, open ports and connections',
  parts: [
    { kind: 'files', patterns: [resolverFile, hostsFile], place: (path) => `network/${basename(path)}` },
    { kind: 'command', file: 'network/ip-addr.txt', command: 'ip addr' },
    { kind: 'command', file: 'network/ip-route.txt', command: 'ip route; ip -6 route' },
    { kind: 'command', file: 'network/hostname.txt', command: 'hostname' },
    { kind: 'command', file: 'network/netstat.txt', command: 'ss --all --numeric --tcp --udp --processes' },
  ],
};
