// Stage A, base: the machine without anything of Kubernetes. Packages and the kernel by the machine's own package
// manager, then files; a reboot follows, which makes all of it take effect.
import { auditUnit, baseUnits } from './base-settings.ts';
import type { BaseStep } from './payload-steps.ts';
import { type AnsibleTask, failsButForNoUnit, placeFiles, playbook, step } from './playbook-tasks.ts';

/** What package managers say when a mirror, a name server or a lock is in the way, and not a package. */
const passingTrouble = [
  'fail(ed|ure)? to (fetch|update|download|connect)',
  'unable to fetch',
  'temporary failure',
  'could not (resolve|connect|get lock)',
  'unable to (lock|acquire)',
  'timed? ?out',
  'connection (refused|reset)',
  'cannot (download|prepare internal mirrorlist)',
  'all mirrors were tried',
  'curl error',
].join('|');

const onlyApt = { when: "ipb_manager == 'apt'" };
const onlyDnf = { when: "ipb_manager == 'dnf'" };

const packageTasks: readonly AnsibleTask[] = [
  {
    name: 'Get packages',
    block: [
      {
        name: 'Update every package and the kernel (apt)',
        'ansible.builtin.apt': { upgrade: 'dist', lock_timeout: 120, dpkg_options: 'force-confdef,force-confold' },
        ...onlyApt,
      },
      {
        name: 'Install what the base needs (apt)',
        'ansible.builtin.apt': {
          name: '{{ ipb_packages.apt + ([] if ipb_container else ipb_audit_packages.apt) }}',
          state: 'present',
          install_recommends: false,
          lock_timeout: 120,
        },
        ...onlyApt,
      },
      {
        name: 'Update every package and the kernel (dnf)',
        'ansible.builtin.dnf': { name: '*', state: 'latest', lock_timeout: 120 },
        // The newest is what this stage is for.
        tags: ['skip_ansible_lint'],
        ...onlyDnf,
      },
      {
        name: 'Install what the base needs (dnf)',
        'ansible.builtin.dnf': {
          name: '{{ ipb_packages.dnf + ([] if ipb_container else ipb_audit_packages.dnf) }}',
          state: 'present',
          lock_timeout: 120,
        },
        ...onlyDnf,
      },
    ],
    rescue: [
      {
        name: 'Note that the step may succeed later',
        'ansible.builtin.copy': { content: 'later', dest: '{{ ipb_later }}', mode: '0600' },
        when: `ansible_failed_result.msg | default('') | lower is search("${passingTrouble}")`,
      },
      {
        name: 'Say why packages were not brought up to date',
        'ansible.builtin.fail': {
          msg: [
            "{{ ansible_failed_task.name }}: {{ ansible_failed_result.msg | default('no reason given') }}",
            "{{ ansible_failed_result.failures | default([]) | join(' ') }}",
            // What dpkg itself says names the package.
            "{{ ansible_failed_result.stdout_lines | default([]) | select('match', 'dpkg: error') | join(' ') }}",
          ].join(' '),
        },
      },
    ],
  },
];

const rightsTasks: readonly AnsibleTask[] = [
  {
    name: 'Take rights away that nobody needs',
    'ansible.builtin.file': { path: '{{ item.path }}', mode: '{{ item.mode }}' },
    loop: "{{ ipb_rights | selectattr('path', 'exists') }}",
    loop_control: { label: '{{ item.path }}' },
  },
];

/** They start with the reboot. A machine that lacks one of them has another service for it. */
const unitTasks: readonly AnsibleTask[] = [
  {
    name: 'Enable what writes, rotates and audits',
    'ansible.builtin.systemd': { name: '{{ item }}', enabled: true },
    loop: `{{ ${JSON.stringify(baseUnits)} + ([] if ipb_container else ["${auditUnit}"]) }}`,
    register: 'ipb_enabled',
    failed_when: failsButForNoUnit('ipb_enabled'),
  },
];

const steps: Readonly<Record<BaseStep, readonly [title: string, tasks: readonly AnsibleTask[]]>> = {
  packages: ['Packages and kernel', packageTasks],
  hardening: ['Settings of the CIS benchmarks', [...placeFiles('hardening'), ...rightsTasks]],
  logging: ['Logs', [...placeFiles('logging'), ...unitTasks]],
  sysctls: ['Kernel settings', placeFiles('sysctls')],
};

export const basePlaybook = playbook(
  'Base, without Kubernetes',
  Object.entries(steps).map(([name, [title, tasks]]) => [step(name, title, tasks)]),
);
