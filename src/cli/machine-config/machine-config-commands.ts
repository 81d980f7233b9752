// The verbs about what machines get. `prepare` runs on a machine, from its unit, and is not listed.
import { configServerPaths } from '../../contract/machine-paths.ts';
import type { ArgumentSpec, CommandSpec, OptionSpec } from '../frame/verb.ts';
import { configServerLocalPort, configServerPort } from '../../contract/ports.ts';

const from: OptionSpec = {
  flags: '--from <folder>',
  description: "folder or file with MachineConfig YAML, instead of the asset folder's manifests",
  isRepeatable: true,
};
const pool: ArgumentSpec = { name: '<pool>', description: 'master, worker or a pool of your own' };

const teaching =
  'Reads every MachineConfig, MachineConfigPool and ControllerConfig in the folders. With a ControllerConfig (firstlight create manifests writes one) the built-in MachineConfigs of the cluster are part of it.';

export const machineConfigCommands: readonly CommandSpec[] = [
  {
    path: ['machine-config', 'render'],
    summary: 'Merge the MachineConfigs of each pool into the one its machines get.',
    description: teaching,
    arguments: [{ name: '[pools...]', description: 'only these; all without any' }],
    options: [from, { flags: '--to <folder>', description: 'write what the config server serves from' }],
    examples: ['firstlight machine-config render', 'firstlight machine-config render worker --to rendered'],
    load: async () => (await import('./render.ts')).machineConfigRender,
  },
  {
    path: ['machine-config', 'show'],
    summary: 'List what a machine of a pool gets, and from which MachineConfig.',
    description: `${teaching} With a name it prints that file or unit as the machine gets it.`,
    arguments: [pool, { name: '[name]', description: 'a path or unit, to see its contents' }],
    options: [from],
    examples: [
      'firstlight machine-config show master',
      'firstlight machine-config show master kubelet.service',
      'firstlight machine-config show worker /etc/containerd/config.toml',
    ],
    load: async () => (await import('./show.ts')).machineConfigShow,
  },
  {
    path: ['machine-config', 'diff'],
    summary: 'Say what changes between two rendered configurations, and whether it needs a reboot.',
    description:
      'Each side is a file with one rendered MachineConfig, or a folder of MachineConfigs that is rendered for the pool first.',
    arguments: [
      { name: '<before>', description: 'a file or folder' },
      { name: '<after>', description: 'a file or folder' },
    ],
    options: [{ flags: '--pool <pool>', description: 'the pool to render folders for', defaultValue: 'worker' }],
    examples: [
      'firstlight machine-config diff old/manifests new/manifests --pool master',
      'firstlight machine-config diff before.yaml after.yaml',
    ],
    load: async () => (await import('./diff.ts')).machineConfigDiff,
  },
  {
    path: ['machine-config', 'explain'],
    summary: 'Say why a file, unit, user or kernel argument is on the machines of a pool.',
    arguments: [pool, { name: '<name>', description: 'a path, unit, drop-in (unit.d/name), user or kernel argument' }],
    options: [from],
    examples: [
      'firstlight machine-config explain master /etc/kubernetes/kubelet-configuration.yaml',
      'firstlight machine-config explain worker kubelet.service.d/20-logging.conf',
    ],
    load: async () => (await import('./explain.ts')).machineConfigExplain,
  },
  {
    path: ['machine-config', 'serve'],
    summary: 'Serve configurations to machines over HTTPS (the Machine Config Server).',
    description:
      'Answers /config/POOL with the rendered configuration of a pool to machines that show its token, each with a token of its own for one use. As `bootstrap` it reads files, by default those of a bootstrap machine; as `cluster` it asks the API, as the agent of a master. Runs until it is stopped; its log is one line of JSON per answer, on stderr.',
    options: [
      {
        flags: '--mode <mode>',
        description: 'bootstrap: from files; cluster: from the API',
        choices: ['bootstrap', 'cluster'],
        defaultValue: 'bootstrap',
      },
      {
        flags: '--api-kubeconfig <file>',
        description: "for cluster: whom to ask and as whom, instead of as this master's agent",
      },
      {
        flags: '--rendered <folder>',
        description: 'rendered configurations',
        defaultValue: configServerPaths.renderedFolder,
      },
      {
        flags: '--pool-tokens <file>',
        description: 'digests of the pool tokens',
        defaultValue: configServerPaths.poolTokens,
      },
      {
        flags: '--kubeconfig <file>',
        description: 'kubeconfig without a credential',
        defaultValue: configServerPaths.kubeconfig,
      },
      {
        flags: '--proxy-credentials <file>',
        description: 'what machines need to pass the proxy, where it asks who they are',
        defaultValue: configServerPaths.proxyCredentials,
      },
      {
        flags: '--pull-secret <file>',
        description: 'credentials for registries, which machines get where the file is there',
        defaultValue: configServerPaths.pullSecret,
      },
      {
        flags: '--pki <folder>',
        description: "the server's pair and the keys for masters",
        defaultValue: configServerPaths.pkiFolder,
      },
      {
        flags: '--token-ledger <file>',
        description: 'where served tokens are recorded',
        defaultValue: configServerPaths.tokenLedger,
      },
      {
        flags: '--settings <file>',
        description: 'who is let in and which load balancers are believed',
        defaultValue: configServerPaths.settings,
      },
      { flags: '--address <address>', description: 'listen here', defaultValue: '::' },
      { flags: '--port <port>', description: 'listen here', defaultValue: configServerPort },
      {
        flags: '--local-port <port>',
        description: '/metrics and /healthz on loopback',
        defaultValue: configServerLocalPort,
      },
      { flags: '--balancer <address>', description: 'a load balancer that sends PROXY v2 headers', isRepeatable: true },
      { flags: '--open', description: 'serve whoever asks, and give keys to nobody; for machines that know no token' },
      {
        flags: '--static-pod <image>',
        description: 'print a static pod that serves on a bootstrap machine from this image, and end',
      },
    ],
    examples: [
      'firstlight machine-config serve',
      'firstlight machine-config serve --rendered rendered --pki tls --port 0',
    ],
    load: async () => (await import('./serve.ts')).machineConfigServe,
  },
  {
    path: ['machine-config', 'prepare'],
    summary: 'Find out what this machine is and prepare it for its kubelet.',
    isHidden: true,
    examples: ['firstlight machine-config prepare'],
    load: async () => (await import('../on-machine/prepare-node.ts')).machineConfigPrepare,
  },
];
