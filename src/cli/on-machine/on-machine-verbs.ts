// What units of a machine run, and what the workstation asks of a machine from inside: verbs that no person types.
import type { VerbRow } from '../frame/verb.ts';

export const onMachineVerbs: readonly VerbRow[] = [
  {
    words: 'first-boot',
    summary: 'Configure this machine from its Ignition config; firstlight-firstboot.service runs it.',
    isHidden: true,
    load: async () => (await import('./first-boot.ts')).firstBootVerb,
  },
  {
    words: 'release-image-pivot',
    summary: 'Change this machine to the release that its config names; release-image-pivot.service runs it.',
    isHidden: true,
    load: async () => (await import('./release-image-pivot.ts')).releaseImagePivotVerb,
  },
  {
    words: 'machine-config prepare',
    summary: 'Find out what this machine is and prepare it for its kubelet.',
    isHidden: true,
    load: async () => (await import('./prepare-node.ts')).prepareNodeVerb,
  },
  {
    words: 'agent',
    summary: 'Keep this machine what the cluster says it is.',
    isHidden: true,
    load: async () => (await import('./agent.ts')).agentVerb,
  },
  {
    words: 'control-plane stop',
    summary: 'End the control plane of this master before its machine goes down.',
    isHidden: true,
    load: async () => (await import('./stop-control-plane.ts')).stopControlPlaneVerb,
  },
  {
    words: 'machine-config-daemon firstboot-complete-machineconfig',
    summary: 'Apply a MachineConfig before the kubelet starts for the first time, and reboot.',
    isHidden: true,
    load: async () => (await import('./complete-first-boot.ts')).completeFirstBootVerb,
  },
  {
    words: 'version-operator run',
    summary: 'Bring a release into the cluster, keep it so, and report on its operators.',
    isHidden: true,
    load: async () => (await import('./version-operator.ts')).versionOperatorVerb,
  },
  {
    words: 'machine-facts',
    summary: 'Say what keeps this machine from joining, as far as it can be seen from inside.',
    isHidden: true,
    load: async () => (await import('./machine-facts.ts')).machineFactsVerb,
  },
  {
    words: 'machine-security',
    summary: 'Say what the processes of Kubernetes on this machine run with, and who may read their files.',
    isHidden: true,
    load: async () => (await import('./machine-security.ts')).machineSecurityVerb,
  },
];
