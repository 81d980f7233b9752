// The verbs of the local platform: machines on this host, and what this host can do.
import { machineRoles } from '../../contract/machine-role.ts';
import type { CommandSpec, OptionSpec } from '../frame/verb.ts';

const cluster: OptionSpec = {
  flags: '--cluster <name>',
  description: 'which cluster on this host (default: that of --dir, else "default")',
};
const timeout: OptionSpec = { flags: '--timeout <seconds>', description: 'how long to wait', defaultValue: '120' };
const noWait: OptionSpec = {
  flags: '--no-wait',
  description: 'return when the machines are started, not when they have booted',
};
const every: OptionSpec = { flags: '--all', description: 'every machine of the cluster' };
const names = { name: '[names...]', description: 'names of machines' };

export const machineCommands: readonly CommandSpec[] = [
  {
    path: ['machine', 'create'],
    summary: 'Make machines that boot with an Ignition config.',
    description:
      'A machine is a Debian with its own systemd, network namespace and files; the real Ignition configures it on its first boot. Running the command again completes what is missing and leaves the rest alone. The first machine of a cluster makes its network, load balancer and name server.',
    arguments: [{ name: '<names...>', description: 'names of machines, known in the cluster’s DNS' }],
    options: [
      { flags: '--ignition <file>', description: 'the Ignition config of these machines' },
      {
        flags: '--role <role>',
        description: 'masters and the bootstrap machine are behind the load balancer',
        choices: machineRoles,
        defaultValue: 'worker',
      },
      { flags: '--network <cidr>', description: 'machine network of a new cluster (default 10.99.0.0/24)' },
      { flags: '--domain <name>', description: 'domain of a new cluster (default CLUSTER.firstlight.test)' },
      { flags: '--image <file>', description: 'JSON that describes a machine image, instead of the release’s' },
      cluster,
      noWait,
      timeout,
    ],
    examples: [
      'firstlight machine create --ignition x.ign a b c d',
      'firstlight machine create --ignition cluster/master.ign --role master --no-wait master-0 master-1 master-2',
    ],
    load: async () => (await import('./create.ts')).machineCreate,
  },
  {
    path: ['machine', 'list'],
    summary: 'Show machines, what they do, and what they wait for.',
    options: [cluster, { flags: '--all-clusters', description: 'machines of every cluster on this host' }],
    examples: ['firstlight machine list', 'firstlight machine list --all-clusters -o json'],
    load: async () => (await import('./list.ts')).machineList,
  },
  {
    path: ['machine', 'start'],
    summary: 'Start machines that are stopped, and what died of their network.',
    arguments: [names],
    options: [every, cluster, noWait, timeout],
    examples: ['firstlight machine start a', 'firstlight machine start --all'],
    load: async () => (await import('./change.ts')).machineStart,
  },
  {
    path: ['machine', 'stop'],
    summary: 'Shut machines down; their files stay.',
    arguments: [names],
    options: [every, cluster],
    examples: ['firstlight machine stop a b', 'firstlight machine stop --all'],
    load: async () => (await import('./change.ts')).machineStop,
  },
  {
    path: ['machine', 'reboot'],
    summary: 'Reboot machines. First boot does not repeat.',
    arguments: [names],
    options: [every, cluster, noWait, timeout],
    examples: ['firstlight machine reboot a'],
    load: async () => (await import('./change.ts')).machineReboot,
  },
  {
    path: ['machine', 'exec'],
    summary: 'Run a command inside a machine, as root.',
    description: 'Everything after -- is the command. Its exit code becomes ours; with -o json its output is captured.',
    arguments: [
      { name: '<machine>', description: 'name of the machine' },
      { name: '<command...>', description: 'the command and its arguments' },
    ],
    options: [cluster],
    examples: ['firstlight machine exec a -- systemctl status', 'firstlight machine exec a -o json -- uname -a'],
    load: async () => (await import('./exec.ts')).machineExec,
  },
  {
    path: ['machine', 'shell'],
    summary: 'Open a root shell inside a machine.',
    arguments: [{ name: '<machine>', description: 'name of the machine' }],
    options: [cluster],
    examples: ['firstlight machine shell a'],
    load: async () => (await import('./exec.ts')).machineShell,
  },
  {
    path: ['machine', 'logs'],
    summary: 'Show a machine’s journal, also of one that is stopped.',
    arguments: [{ name: '<machine>', description: 'name of the machine' }],
    options: [
      { flags: '-u, --unit <unit>', description: 'only this unit', isRepeatable: true },
      { flags: '-f, --follow', description: 'go on until interrupted' },
      { flags: '-n, --lines <count>', description: 'how many lines from the end', defaultValue: '1000' },
      { flags: '--console', description: 'what the machine’s supervisor and nspawn said, instead of the journal' },
      cluster,
    ],
    examples: ['firstlight machine logs a', 'firstlight machine logs a -u firstlight-firstboot'],
    load: async () => (await import('./logs.ts')).machineLogs,
  },
  {
    path: ['machine', 'destroy'],
    summary: 'Remove machines and everything of them; with the last one goes the cluster’s network.',
    arguments: [names],
    options: [{ flags: '--all', description: 'the whole cluster, also one that was never completed' }, cluster],
    examples: ['firstlight machine destroy a', 'firstlight machine destroy --all'],
    load: async () => (await import('./change.ts')).machineDestroy,
  },
  {
    path: ['doctor'],
    summary: 'Say what this host is and whether it can run machines.',
    description: 'Nothing is changed. The exit code is 4 when something is in the way.',
    options: [{ flags: '--machines <count>', description: 'how many machines it should carry', defaultValue: '5' }],
    examples: ['firstlight doctor', 'firstlight doctor -o json'],
    load: async () => (await import('../cluster/doctor.ts')).doctor,
  },
  {
    path: ['first-boot'],
    summary: 'Configure this machine from its Ignition config; firstlight-firstboot.service runs it.',
    examples: ['firstlight first-boot'],
    isHidden: true,
    load: async () => (await import('../on-machine/first-boot.ts')).firstBoot,
  },
];
