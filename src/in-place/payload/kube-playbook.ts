// Stage B, kube: what makes the machine a node, from the rendered MachineConfig of its pool. Agent and kubelet start in
// its last step, and in no other; the unit that runs the payload is ordered before both.
import { kubeletKubeconfig, runtimePaths } from '../../contract/machine-paths.ts';
import { unitNames } from '../../contract/unit-names.ts';
import type { KubeStep } from './payload-steps.ts';
import { type AnsibleTask, failsButForNoUnit, placeFiles, playbook, step } from './playbook-tasks.ts';

/** Facts of one machine, which the host writes beside the payload. */
export interface MachineVariables {
  /** Paths that only the former configuration has, each with the operating system's own file where that was kept. */
  readonly ipb_former: readonly { readonly path: string; readonly original: string }[];
  readonly ipb_former_units: readonly string[];
}

const softwareTasks: readonly AnsibleTask[] = [
  {
    name: 'Get the programs of a node',
    when: "ipb_programs | reject('exists') | list | length > 0",
    block: [
      {
        name: 'Install the programs of a node (apt)',
        'ansible.builtin.apt': {
          name: '{{ ipb_node_packages }}',
          state: 'present',
          update_cache: true,
          update_cache_retries: 1,
          install_recommends: false,
          lock_timeout: 120,
        },
        when: "ipb_manager == 'apt'",
      },
      {
        name: 'Install the programs of a node (dnf)',
        'ansible.builtin.dnf': {
          name: '{{ ipb_node_packages }}',
          state: 'present',
          update_cache: true,
          lock_timeout: 120,
        },
        when: "ipb_manager == 'dnf'",
      },
    ],
  },
];

const formerTasks: readonly AnsibleTask[] = [
  {
    name: 'Disable units that only the former configuration has',
    'ansible.builtin.systemd': { name: '{{ item }}', enabled: false },
    loop: '{{ ipb_former_units | default([]) }}',
    register: 'ipb_disabled',
    failed_when: failsButForNoUnit('ipb_disabled'),
  },
  {
    name: 'Remove what only the former configuration has',
    'ansible.builtin.file': { path: '{{ item.path }}', state: 'absent' },
    loop: "{{ ipb_former | default([]) | selectattr('original', 'equalto', '') }}",
    loop_control: { label: '{{ item.path }}' },
  },
  {
    name: "Put the operating system's own files back",
    'ansible.builtin.copy': {
      src: '{{ item.original }}',
      dest: '{{ item.path }}',
      remote_src: true,
      mode: 'preserve',
    },
    loop: "{{ ipb_former | default([]) | rejectattr('original', 'equalto', '') }}",
    loop_control: { label: '{{ item.path }}' },
  },
];

const kubeletTasks: readonly AnsibleTask[] = [
  {
    name: 'Make the users whose keys the configuration has',
    'ansible.builtin.user': { name: '{{ item }}', create_home: true },
    loop: '{{ ipb_users }}',
  },
  {
    name: 'Make the folders of the configuration',
    'ansible.builtin.file': {
      path: '{{ item.path }}',
      state: 'directory',
      mode: '{{ item.mode }}',
      owner: '{{ item.owner }}',
      group: '{{ item.group }}',
    },
    loop: '{{ ipb_folders }}',
    loop_control: { label: '{{ item.path }}' },
  },
  ...placeFiles('kubelet'),
  {
    name: 'Make the links of the configuration',
    'ansible.builtin.file': {
      src: '{{ item.target }}',
      dest: '{{ item.path }}',
      state: 'link',
      force: true,
      follow: false,
    },
    loop: '{{ ipb_links }}',
    loop_control: { label: '{{ item.path }}' },
  },
];

const reload: AnsibleTask = { name: 'Read the units anew', 'ansible.builtin.systemd': { daemon_reload: true } };

const unitTasks: readonly AnsibleTask[] = [
  {
    name: 'Undo masks that somebody made by hand',
    'ansible.builtin.systemd': { name: '{{ item }}', masked: false },
    loop: '{{ ipb_units.unmasked }}',
  },
  reload,
  {
    name: 'Disable units as the configuration says',
    'ansible.builtin.systemd': { name: '{{ item }}', enabled: false },
    loop: '{{ ipb_units.disabled }}',
    register: 'ipb_disabled',
    failed_when: failsButForNoUnit('ipb_disabled'),
  },
  {
    name: 'Enable units as the configuration says',
    'ansible.builtin.systemd': { name: '{{ item }}', enabled: true },
    loop: '{{ ipb_units.enabled }}',
  },
];

/**
 * What ran with the former configuration since the reboot begins anew. Nothing is waited for: agent and kubelet are
 * ordered behind the unit that runs this payload. A kubelet without a certificate is started by the agent later.
 */
const startTasks: readonly AnsibleTask[] = [
  {
    name: 'Forget what the boot found out with the former configuration',
    'ansible.builtin.file': { path: runtimePaths.environment, state: 'absent' },
  },
  reload,
  {
    name: 'Let services begin with their new configuration',
    'ansible.builtin.systemd': { name: '{{ item }}', state: 'restarted', no_block: true },
    loop: '{{ ipb_units.restarted }}',
  },
  {
    name: 'Look whether the kubelet has a certificate',
    'ansible.builtin.stat': { path: kubeletKubeconfig },
    register: 'ipb_credential',
  },
  {
    name: 'Start the kubelet of a machine that is a node',
    'ansible.builtin.systemd': { name: unitNames.kubelet, enabled: true, state: 'started', no_block: true },
    when: 'ipb_credential.stat.exists',
  },
  {
    name: 'Start the agent',
    'ansible.builtin.systemd': { name: unitNames.agent, state: 'started', no_block: true },
    when: 'unit in ipb_units.enabled',
    vars: { unit: unitNames.agent },
  },
];

const steps: Readonly<Record<KubeStep, readonly [title: string, tasks: readonly AnsibleTask[]]>> = {
  software: ['Programs of a node', softwareTasks],
  former: ['What the former configuration left behind', formerTasks],
  runtime: ['Container runtime', placeFiles('runtime')],
  kubelet: ['Kubelet and node', kubeletTasks],
  credentials: ['Kubeconfig and credentials', placeFiles('credentials', { isSecret: true })],
  units: ['Units', unitTasks],
  start: ['Start', startTasks],
};

export const kubePlaybook = playbook(
  'Container runtime, kubelet and their configuration',
  Object.entries(steps).map(([name, [title, tasks]]) => [step(name, title, tasks)]),
);
