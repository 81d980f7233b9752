// What a config wants on a machine, as Ignition would have made it: files, links and folders by path (units, drop-ins,
// masks and SSH keys are such files too), the enablement of units, the password of `core`. Pure.
import { posix } from 'node:path';
import { daemonFiles } from '../contract/machine-config-node.ts';
import { bootstrapKubeconfig, kubeletClientCa, proxyCredentials, unitFolder } from '../contract/machine-paths.ts';
import type { Directory, FileNode, Link, Owner, Unit, User } from '../ignition/config.ts';
import { readInlineContents } from '../ignition/inline-contents.ts';
import type { MachineConfigSpec } from '../machine-config/machine-config.ts';

/** By number or by name; a name is looked up on the machine. */
export interface WantedOwner {
  readonly user: number | string;
  readonly group: number | string;
}

interface WantedAt {
  readonly path: string;
  readonly owner: WantedOwner;
}

/** What is not in the config only Ignition can bring: it is not compared with the disk and cannot be written. */
export type WantedContents = { readonly bytes: Uint8Array } | { readonly elsewhere: string };

export type WantedNode =
  | (WantedAt & { readonly kind: 'file'; readonly mode: number; readonly contents: WantedContents })
  | (WantedAt & { readonly kind: 'folder'; readonly mode: number })
  | (WantedAt & { readonly kind: 'link'; readonly target: string })
  /** A second name of another file: made at first boot, compared by its presence alone. */
  | (WantedAt & { readonly kind: 'hard link'; readonly target: string })
  /** `mask: false` of a unit without contents: whatever is there, it is no mask. */
  | (WantedAt & { readonly kind: 'no mask' });

export interface WantedUnit {
  readonly name: string;
  /** Undefined: the config does not say, and it stays as it is. */
  readonly isEnabled: boolean | undefined;
  readonly isMasked: boolean;
  /** False for a unit of the operating system, which the config only enables, masks or adds to. */
  readonly hasContents: boolean;
}

export interface WantedState {
  readonly nodes: ReadonlyMap<string, WantedNode>;
  readonly units: ReadonlyMap<string, WantedUnit>;
  readonly passwordHash: string | undefined;
}

/** The user whose keys and password a running machine can change. */
export const managedUser = 'core';
export const maskTarget = '/dev/null';

/** What the config server adds for each machine is no part of its config, also where a MachineConfig has the path. */
const servedOutside: readonly string[] = [
  kubeletClientCa,
  bootstrapKubeconfig,
  proxyCredentials,
  daemonFiles.nodeAnnotations,
  daemonFiles.servedMachineConfig,
  daemonFiles.encapsulated,
];

export function isServedOutside(path: string): boolean {
  return servedOutside.includes(path);
}

export const rootOwner: WantedOwner = { user: 0, group: 0 };

export function wantedState({ config }: Pick<MachineConfigSpec, 'config'>): WantedState {
  const { directories = [], files = [], links = [] } = config.storage ?? {};
  const units = config.systemd?.units ?? [];
  const user = config.passwd?.users?.find(({ name }) => name === managedUser);
  // In the order of Ignition: what comes later wins.
  const nodes = [
    ...(user === undefined ? [] : keyNodes(user)),
    ...directories.map(folderNode),
    ...files.map(wantedFile),
    ...links.map(linkNode),
    ...units.flatMap(unitNodes),
  ].filter(({ path }) => !isServedOutside(path));
  return {
    nodes: new Map(nodes.map((node) => [node.path, node])),
    units: new Map(units.map((unit) => [unit.name, wantedUnit(unit)])),
    passwordHash: user?.passwordHash,
  };
}

export function unitPath(name: string): string {
  return `${unitFolder}/${name}`;
}

export function wantedFile({ path, mode = 0o644, contents = {}, append = [], user, group }: FileNode): WantedNode {
  const read = readInlineContents(contents);
  const isWhole = read.status === 'inline' && append.length === 0;
  const wanted = isWhole ? { bytes: read.bytes } : { elsewhere: JSON.stringify([contents, append]) };
  const owner = ownerOf(user, group);
  return { kind: 'file', path: posix.normalize(path), mode: mode & 0o7777, contents: wanted, owner };
}

function folderNode({ path, mode = 0o755, user, group }: Directory): WantedNode {
  const clean = posix.normalize(path).replace(/(.)\/$/, '$1');
  return { kind: 'folder', path: clean, mode: mode & 0o7777, owner: ownerOf(user, group) };
}

function linkNode({ path, target = '', hard = false, user, group }: Link): WantedNode {
  const kind = hard ? ('hard link' as const) : ('link' as const);
  return { kind, path: posix.normalize(path), target, owner: ownerOf(user, group) };
}

function ownerOf(user: Owner | undefined, group: Owner | undefined): WantedOwner {
  return { user: user?.id ?? user?.name ?? 0, group: group?.id ?? group?.name ?? 0 };
}

function unitNodes({ name, contents = '', mask, dropins = [] }: Unit): readonly WantedNode[] {
  const text = (path: string, content: string): WantedNode => {
    return { kind: 'file', path, mode: 0o644, contents: { bytes: Buffer.from(content) }, owner: rootOwner };
  };
  const path = unitPath(name);
  const own: readonly WantedNode[] =
    mask === true
      ? [{ kind: 'link', path, target: maskTarget, owner: rootOwner }]
      : contents !== ''
        ? [text(path, contents)]
        : mask === false
          ? [{ kind: 'no mask', path, owner: rootOwner }]
          : [];
  const additions = dropins.flatMap(({ name: dropin, contents: addition = '' }) =>
    addition === '' ? [] : [text(`${path}.d/${dropin}`, addition)],
  );
  return [...own, ...additions];
}

function wantedUnit({ name, enabled, mask = false, contents = '' }: Unit): WantedUnit {
  return { name, isEnabled: enabled, isMasked: mask, hasContents: contents !== '' };
}

/** Where Ignition writes the keys of a user, and sshd of the machine image reads them. */
function keyNodes({ name, homeDir = `/home/${name}`, sshAuthorizedKeys = [] }: User): readonly WantedNode[] {
  if (sshAuthorizedKeys.length === 0) return [];
  const owner = { user: name, group: name };
  const folder = `${homeDir}/.ssh`;
  const keys = Buffer.from(`${sshAuthorizedKeys.join('\n').replace(/\n$/, '')}\n`);
  return [
    { kind: 'folder', path: folder, mode: 0o700, owner },
    { kind: 'folder', path: `${folder}/authorized_keys.d`, mode: 0o700, owner },
    { kind: 'file', path: `${folder}/authorized_keys.d/ignition`, mode: 0o600, contents: { bytes: keys }, owner },
  ];
}
