// The steps of a payload, in their order. A step is the unit of repetition: it has a key, it is done at most once per
// attempt, and a step that was cut off is run again from its beginning, which its playbook allows.

export const payloadStages = ['base', 'kube'] as const;
/** `base`: the machine without Kubernetes, before the reboot. `kube`: everything of Kubernetes, after it. */
export type PayloadStage = (typeof payloadStages)[number];

export interface PayloadStep {
  readonly stage: PayloadStage;
  readonly name: string;
  readonly why: string;
}

export const payloadSteps = [
  {
    stage: 'base',
    name: 'packages',
    why: 'Updates every package and the kernel by the package manager of the machine, and installs what the base needs.',
  },
  { stage: 'base', name: 'hardening', why: 'Settings of the CIS benchmarks, also those that auditors look for.' },
  { stage: 'base', name: 'logging', why: 'Logs are kept, forwarded to files and rotated.' },
  { stage: 'base', name: 'sysctls', why: 'Kernel settings for many containers on one machine.' },
  {
    stage: 'kube',
    name: 'software',
    why: 'The programs of a node are on the machine, by its image or by a package of its repositories.',
  },
  { stage: 'kube', name: 'former', why: 'Removes what the former configuration has and the new one does not.' },
  { stage: 'kube', name: 'runtime', why: 'Configuration and unit of the container runtime.' },
  { stage: 'kube', name: 'kubelet', why: 'Configuration of the kubelet, all other files and units of the pool.' },
  { stage: 'kube', name: 'credentials', why: 'The kubeconfig with its token, authorities, registry credentials.' },
  { stage: 'kube', name: 'units', why: 'Units are enabled, disabled and masked as the configuration says.' },
  { stage: 'kube', name: 'start', why: 'The last one: from here on agent and kubelet may start.' },
] as const satisfies readonly PayloadStep[];

export type BaseStep = Extract<(typeof payloadSteps)[number], { stage: 'base' }>['name'];
export type KubeStep = Extract<(typeof payloadSteps)[number], { stage: 'kube' }>['name'];

/** `sysexits.h`: nothing is broken, and the same step may succeed later. */
export const retryLaterCode = 75;
