// The verbs of a whole cluster.
import type { CommandSpec, OptionSpec } from '../frame/verb.ts';

const timeout: OptionSpec = {
  flags: '--timeout <seconds>',
  description: 'give up after this long (default: go on while something moves)',
};

const stallAfter: OptionSpec = {
  flags: '--stall-after <seconds>',
  description: 'how long nothing may move before the likely reason is looked for and the command ends',
  // The kubelet waits up to five minutes before it tries a container again: whoever gives up earlier may miss a cure.
  defaultValue: '360',
};

const noWait: OptionSpec = { flags: '--no-wait', description: 'return when the machines are started' };

export const clusterCommands: readonly CommandSpec[] = [
  {
    path: ['create', 'cluster'],
    summary: 'Make a cluster on this host: from nothing, or from where it stopped.',
    description:
      'Makes the assets, the release and the machines, follows the bootstrap until the masters carry the cluster alone, removes the bootstrap machine and waits until every node is Ready. Stop it whenever you like: the machines go on, and the same command continues.',
    options: [
      timeout,
      stallAfter,
      { flags: '--keep-bootstrap', description: 'leave the bootstrap machine, emptied of its secrets, to look into' },
    ],
    examples: ['firstlight create cluster', 'firstlight create cluster --dir lab'],
    load: async () => (await import('./create-cluster.ts')).createClusterCommand,
  },
  {
    path: ['destroy', 'cluster'],
    summary: 'Remove the machines of the cluster and all they left on this host.',
    description: 'The assets stay in their folder; remove it yourself when you do not need them any more.',
    examples: ['firstlight destroy cluster', 'firstlight destroy cluster --dir lab'],
    load: async () => (await import('./destroy.ts')).destroyClusterCommand,
  },
  {
    path: ['destroy', 'bootstrap'],
    summary: 'Remove the bootstrap machine, once the masters carry the cluster.',
    options: [{ flags: '--force', description: 'also while the cluster still needs it' }],
    examples: ['firstlight destroy bootstrap'],
    load: async () => (await import('./destroy.ts')).destroyBootstrapCommand,
  },
  {
    path: ['status'],
    summary: 'Show the machines, etcd voters and nodes of the cluster, or where the time went.',
    options: [
      { flags: '--waterfall', description: 'show where the time of create cluster went, per machine' },
      { flags: '--svg <file>', description: 'the same as a picture' },
    ],
    examples: ['firstlight status', 'firstlight status --waterfall', 'firstlight status --svg run.svg'],
    load: async () => (await import('./status.ts')).status,
  },
  {
    path: ['diagnose'],
    summary: 'Look into every machine and say what keeps the cluster from going on, the likeliest reason first.',
    description:
      'Looks at names, ports, tokens, disks, clocks, images and units of every machine, from inside, and at what the API says. Changes nothing and may be run at any time; create cluster does the same when nothing moves. The exit code is 0 when nothing was found.',
    arguments: [{ name: '[machine]', description: 'only what concerns this machine' }],
    options: [{ flags: '--checks', description: 'list the checks instead: what each looks at, and why' }],
    examples: ['firstlight diagnose', 'firstlight diagnose master-2 -o json', 'firstlight diagnose --checks'],
    load: async () => (await import('./diagnose.ts')).diagnoseCommand,
  },
  {
    path: ['wait-for', 'bootstrap-complete'],
    summary: 'Wait until the masters carry the cluster and the bootstrap machine may go.',
    options: [timeout, stallAfter],
    examples: ['firstlight wait-for bootstrap-complete --dir lab'],
    load: async () => (await import('./wait-for.ts')).waitForBootstrapComplete,
  },
  {
    path: ['wait-for', 'install-complete'],
    summary: 'Wait until every node is Ready and the control plane and the add-ons have settled.',
    options: [timeout, stallAfter],
    examples: ['firstlight wait-for install-complete --dir lab'],
    load: async () => (await import('./wait-for.ts')).waitForInstallComplete,
  },
  {
    path: ['kubeconfig'],
    summary: 'Say where the kubeconfig is, or merge it into yours.',
    options: [
      { flags: '--merge', description: 'add the cluster to $KUBECONFIG or ~/.kube/config, and make it current' },
    ],
    examples: ['export KUBECONFIG=$(firstlight kubeconfig)', 'firstlight kubeconfig --merge'],
    load: async () => (await import('./kubeconfig.ts')).kubeconfigCommand,
  },
  {
    path: ['kubectl'],
    summary: 'Run the release’s own kubectl at this cluster.',
    description: 'Everything after the word is kubectl’s; --dir comes before its first word.',
    passesThrough: true,
    examples: ['firstlight kubectl get nodes -o wide', 'firstlight kubectl --dir lab get pods -A'],
    load: async () => (await import('./kubectl.ts')).kubectl,
  },
  {
    path: ['node', 'add'],
    summary: 'Add workers to a cluster that stands, or make a lost master anew.',
    arguments: [{ name: '<names...>', description: 'of new workers, or of masters without a machine' }],
    options: [noWait, timeout, stallAfter],
    examples: ['firstlight node add worker-1', 'firstlight node add worker-1 worker-2 --no-wait'],
    load: async () => (await import('../node/node.ts')).nodeAdd,
  },
  {
    path: ['node', 'remove'],
    summary: 'Move the pods of a worker away and remove it for good.',
    arguments: [{ name: '<name>', description: 'name of the worker' }],
    options: [{ flags: '--force', description: 'also where its pods cannot be moved in time' }],
    examples: ['firstlight node remove worker-1'],
    load: async () => (await import('../node/node.ts')).nodeRemove,
  },
  {
    path: ['node', 'list'],
    summary: 'Show the machines that may be nodes, and which are.',
    examples: ['firstlight node list', 'firstlight node list -o json'],
    load: async () => (await import('../node/node.ts')).nodeList,
  },
];
