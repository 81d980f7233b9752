// Which changes a machine that exists can take. What Ignition does once, before a machine's first start (disks, users,
// groups, what it fetches), is never done again: such a change is refused when a pool is rendered, and once more on the
// machine. Folders and links are files here: they are applied. An entry that did not change is never a problem.
import type { FileNode, IgnitionConfig, User } from '../ignition/config.ts';
import { canonicalJson } from './canonical-json.ts';
import type { MachineConfigSpec } from './machine-config.ts';
import type { MergedEntryKind } from './merge-configs.ts';

/** What a rendered configuration asks for and machines cannot give. */
export interface SpecProblem {
  /** The entry, section of the Ignition config, or field of the spec; from it follows which MachineConfig set it. */
  readonly about:
    | { readonly kind: MergedEntryKind; readonly name: string }
    | { readonly kind: 'section'; readonly name: string }
    | { readonly kind: 'field'; readonly name: SettingName };
  /** A sentence that names what it is about. */
  readonly message: string;
}

export type SettingName = Exclude<keyof MachineConfigSpec, 'config'>;

/** Why no machine that has `before` can be brought to `after`; empty when it can. */
export function reconcilableProblems(before: MachineConfigSpec, after: MachineConfigSpec): readonly SpecProblem[] {
  return [
    ...settingProblems(before, after),
    ...sectionProblems(before.config, after.config),
    ...groupProblems(before.config, after.config),
    ...userProblems(before.config, after.config),
    ...fileProblems(before.config, after.config),
  ];
}

/** Fields that are decided when a machine is installed, or that no program on it applies. */
const fixedSettings: readonly { readonly name: SettingName; readonly why: string }[] = [
  { name: 'fips', why: 'FIPS mode is decided when a machine is installed' },
  { name: 'kernelArguments', why: 'kernel arguments of a running machine cannot be changed here' },
  { name: 'kernelType', why: 'the kernel of a machine cannot be exchanged here' },
  { name: 'extensions', why: 'extensions cannot be added to a machine here' },
  { name: 'baseOSExtensionsContainerImage', why: 'extensions cannot be added to a machine here' },
];

function settingProblems(before: MachineConfigSpec, after: MachineConfigSpec): readonly SpecProblem[] {
  return fixedSettings
    .filter(({ name }) => !isSame(before[name], after[name]))
    .map(({ name, why }) => ({ about: { kind: 'field', name }, message: `${name} changed: ${why}` }));
}

const fixedSections = [
  { name: 'disks', why: 'a disk is laid out once, before the first start of a machine' },
  { name: 'raid', why: 'a disk is laid out once, before the first start of a machine' },
  { name: 'filesystems', why: 'a disk is laid out once, before the first start of a machine' },
  { name: 'luks', why: 'a disk is laid out once, before the first start of a machine' },
] as const;

function sectionProblems(before: IgnitionConfig, after: IgnitionConfig): readonly SpecProblem[] {
  const storage = fixedSections
    .filter(({ name }) => !isSame(before.storage?.[name] ?? [], after.storage?.[name] ?? []))
    .map(({ name, why }) => sectionProblem(name, `storage.${name} changed: ${why}`));
  const kernel = isSame(before.kernelArguments ?? {}, after.kernelArguments ?? {})
    ? []
    : [sectionProblem('kernelArguments', 'config.kernelArguments changed: Ignition sets them once')];
  const fetched = isSame(before.ignition.config ?? {}, after.ignition.config ?? {})
    ? []
    : [sectionProblem('ignition', 'ignition.config changed: other configs are fetched at first boot only')];
  return [...storage, ...kernel, ...fetched];
}

function sectionProblem(name: string, message: string): SpecProblem {
  return { about: { kind: 'section', name }, message };
}

function groupProblems({ passwd: before }: IgnitionConfig, { passwd: after }: IgnitionConfig): readonly SpecProblem[] {
  return changedNames(before?.groups ?? [], after?.groups ?? [], ({ name }) => name).map((name) => ({
    about: { kind: 'group', name },
    message: `group ${name} changed: groups are made at first boot`,
  }));
}

/** The user that every machine image has. */
const coreUser = 'core';
const changeableUserFields: readonly string[] = ['name', 'passwordHash', 'sshAuthorizedKeys'];

function userProblems({ passwd: before }: IgnitionConfig, { passwd: after }: IgnitionConfig): readonly SpecProblem[] {
  const users = after?.users ?? [];
  return changedNames(before?.users ?? [], users, ({ name }) => name).flatMap((name): SpecProblem[] => {
    const about = { kind: 'user', name } as const;
    if (name !== coreUser)
      return [{ about, message: `user ${name} changed: users other than core are made at first boot` }];
    const [one, other] = [before?.users?.find((user) => user.name === name), users.find((user) => user.name === name)];
    const fields = otherFields(one, other);
    if (fields.length === 0) return [];
    return [
      {
        about,
        message: `${fields.join(', ')} of user core changed: only its SSH keys and password can change on a machine`,
      },
    ];
  });
}

function otherFields(one: User | undefined, other: User | undefined): readonly string[] {
  const fields = new Set([...Object.keys(one ?? {}), ...Object.keys(other ?? {})]);
  const valueOf = (user: User | undefined, field: string): unknown =>
    (user as Readonly<Record<string, unknown>>)?.[field];
  return [...fields].filter(
    (field) => !changeableUserFields.includes(field) && !isSame(valueOf(one, field), valueOf(other, field)),
  );
}

function fileProblems({ storage: before }: IgnitionConfig, { storage: after }: IgnitionConfig): readonly SpecProblem[] {
  const files = after?.files ?? [];
  const changed = new Set(changedNames(before?.files ?? [], files, ({ path }) => path));
  return files
    .filter(({ path }) => changed.has(path))
    .flatMap((file) => {
      const why = unwritable(file);
      return why === undefined
        ? []
        : [{ about: { kind: 'file', name: file.path }, message: `file ${file.path} ${why}` }];
    });
}

function unwritable({ append = [], contents }: FileNode): string | undefined {
  if (append.length > 0) return 'is appended to, which works at first boot only';
  if (contents?.source === undefined || contents.source === null || contents.source.startsWith('data:'))
    return undefined;
  return `is fetched from ${hostOf(contents.source)}, which works at first boot only; carry it as a data: URL`;
}

/** Without user, password and query, which may be secrets. */
function hostOf(source: string): string {
  return URL.canParse(source) ? `${new URL(source).protocol}//${new URL(source).host}` : 'an address';
}

function changedNames<Entry extends object>(
  before: readonly Entry[],
  after: readonly Entry[],
  nameOf: (entry: Entry) => string,
): readonly string[] {
  const older = new Map(before.map((entry) => [nameOf(entry), entry]));
  const newer = new Map(after.map((entry) => [nameOf(entry), entry]));
  return [...new Set([...older.keys(), ...newer.keys()])].filter((name) => !isSame(older.get(name), newer.get(name)));
}

function isSame(one: unknown, other: unknown): boolean {
  return canonicalJson(one ?? null) === canonicalJson(other ?? null);
}
