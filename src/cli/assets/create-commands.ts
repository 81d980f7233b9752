// The verbs that make things out of an install-config.
import type { CommandSpec } from '../frame/verb.ts';

export const createCommands: readonly CommandSpec[] = [
  {
    path: ['create', 'install-config'],
    summary: 'Write install-config.yaml: by asking on a terminal, else with commented defaults.',
    description:
      'The install-config is the only file you have to write, and every field of it has a default. On a terminal you are asked for the few things that matter; Enter accepts what is proposed. An existing file is checked and never overwritten.',
    examples: ['firstlight create install-config', 'firstlight create install-config --dir lab < /dev/null'],
    load: async () => (await import('./create-install-config.ts')).createInstallConfig,
  },
  {
    path: ['create', 'manifests'],
    summary: 'Derive the Kubernetes manifests that the new cluster starts with.',
    description:
      'They land in manifests/. Edit them, add files beside them, remove what you do not want: your files win, ride along into bootstrap.ign, and are never overwritten.',
    examples: ['firstlight create manifests', 'firstlight create manifests --dir lab -o json'],
    load: async () => (await import('./create-target.ts')).createManifests,
  },
  {
    path: ['create', 'ignition-configs'],
    summary: 'Derive everything that machines are booted with: Ignition configs, keys, kubeconfigs.',
    description:
      'Makes bootstrap.ign, master.ign and worker.ign, the keys they need in tls/, and auth/kubeconfig for you. Run it again after any edit: what depends on the edit is made anew, everything else stays, keys included.',
    examples: ['firstlight create ignition-configs', 'firstlight create ignition-configs --dir lab'],
    load: async () => (await import('./create-target.ts')).createIgnitionConfigs,
  },
  {
    path: ['graph'],
    summary: 'Draw from what each asset is made.',
    options: [
      {
        flags: '--format <format>',
        description: 'the language of the drawing',
        choices: ['dot', 'mermaid'],
        defaultValue: 'dot',
      },
    ],
    examples: [
      'firstlight graph | dot -Tsvg > assets.svg',
      'firstlight graph --format mermaid',
      'firstlight graph -o json',
    ],
    load: async () => (await import('./graph.ts')).graph,
  },
  {
    path: ['explain'],
    summary: 'Say what something is, why it exists and what it may be.',
    description:
      'Explains fields of the install-config (installconfig.networking), assets (asset root-ca), errors (error ASSET_CONFLICT) and what the torcx bootstrapper would do on this node (torcx). Without a subject it lists what there is.',
    arguments: [{ name: '[subject...]', description: 'installconfig[.path], asset NAME, error CODE, torcx' }],
    options: [{ flags: '--json-schema', description: 'print the JSON Schema of the install-config' }],
    examples: [
      'firstlight explain installconfig.networking',
      'firstlight explain asset bootstrap-ignition',
      'firstlight explain error ASSET_CONFLICT',
      'firstlight explain --json-schema > install-config.schema.json',
    ],
    load: async () => (await import('../explain/explain.ts')).explainCommand,
  },
];
