// Tasks that both playbooks use, as values of ansible's own form. Every task is idempotent, and those that handle
// secrets print nothing.

export type AnsibleTask = Readonly<Record<string, unknown>>;

/** A file that a playbook puts in place, as its variables have it. */
export interface PlacedFile {
  readonly path: string;
  /** Relative to the folder of the playbook. */
  readonly source: string;
  /** `0644`: ansible reads a number as decimal. */
  readonly mode: string;
  readonly owner: string;
  readonly group: string;
}

export interface PlacedFolder {
  readonly path: string;
  readonly mode: string;
  readonly owner: string;
  readonly group: string;
}

export interface PlacedLink {
  readonly path: string;
  readonly target: string;
}

export function octal(mode: number): string {
  return mode.toString(8).padStart(4, '0');
}

/** A play on this machine; a step is chosen by its tag. */
export function playbook(name: string, steps: readonly (readonly AnsibleTask[])[]): readonly AnsibleTask[] {
  return [{ name, hosts: 'localhost', connection: 'local', gather_facts: false, tasks: steps.flat() }];
}

export function step(name: string, title: string, tasks: readonly AnsibleTask[]): AnsibleTask {
  return { name: title, tags: [name], block: tasks };
}

/** Folders above files are made with the default mode where they are missing, and left alone where they exist. */
export function placeFiles(step: string, options: { readonly isSecret?: boolean } = {}): readonly AnsibleTask[] {
  const quiet = { loop_control: { label: '{{ item.path | default(item) }}' } };
  const files = `ipb_files.${step}`;
  return [
    {
      name: `Make the folders of files (${step})`,
      'ansible.builtin.file': { path: '{{ item }}', state: 'directory', mode: '{{ omit }}' },
      loop: `{{ ${files} | map(attribute='path') | map('dirname') | unique | reject('directory') }}`,
    },
    {
      name: `Put files in place (${step})`,
      'ansible.builtin.copy': {
        src: '{{ ipb_folder }}/{{ item.source }}',
        dest: '{{ item.path }}',
        mode: '{{ item.mode }}',
        owner: '{{ item.owner }}',
        group: '{{ item.group }}',
        remote_src: true,
        follow: false,
      },
      loop: `{{ ${files} }}`,
      ...quiet,
      ...(options.isSecret === true ? { no_log: true } : {}),
    },
  ];
}

/** A condition for `failed_when`: a unit that the machine does not have is no failure. */
export function failsButForNoUnit(registered: string): string {
  return `${registered}.failed | default(false) and 'Could not find the requested service' not in ${registered}.msg`;
}
