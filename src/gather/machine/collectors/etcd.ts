// The members of etcd and how well they are, asked on every control-plane machine: members may disagree.
import { etcdPorts, httpsUrl } from '../../../contract/ports.ts';
import { certificateFile, componentFile, keyFile } from '../../../control-plane/control-plane-paths.ts';
import type { MachineCollector } from '../machine-collector.ts';

const client = [
  `etcdctl --endpoints=${httpsUrl('127.0.0.1', etcdPorts.client)} --dial-timeout=1s --command-timeout=2s`,
  `--cacert=${componentFile('kube-apiserver', 'etcd-ca.crt')}`,
  `--cert=${certificateFile('apiserver-etcd-client')} --key=${keyFile('apiserver-etcd-client')}`,
].join(' ');

/** Nothing where the machine has no member. */
const ask = (command: string): string => `[ ! -e ${keyFile('apiserver-etcd-client')} ] || ${client} ${command}`;

export const etcdCollector: MachineCollector = {
  name: 'etcd',
  takes: 'members of etcd, their state and health, as each control-plane machine sees them',
  parts: [
    { kind: 'command', file: 'etcd/members.txt', command: ask('member list --write-out=table') },
    { kind: 'command', file: 'etcd/status.txt', command: ask('endpoint status --cluster --write-out=table') },
    { kind: 'command', file: 'etcd/health.txt', command: ask('endpoint health --cluster --write-out=table') },
  ],
};
