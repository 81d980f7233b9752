// The rendered MachineConfig of a pool and the files that the config server adds, as what a playbook puts in place:
// which bytes at which path in which step, which units in which state. Pure; refuses what a payload cannot carry.
import { posix } from 'node:path';
import { type WantedNode, type WantedOwner, wantedState } from '../../config-daemon/wanted-state.ts';
import { daemonFiles } from '../../contract/machine-config-node.ts';
import { cniConfigFolder, containerdConfig, unitFolder } from '../../contract/machine-paths.ts';
import { unitNames } from '../../contract/unit-names.ts';
import type { FileNode } from '../../ignition/config.ts';
import { readInlineContents } from '../../ignition/inline-contents.ts';
import type { MachineConfig } from '../../machine-config/machine-config.ts';
import { payloadErrors } from './errors.ts';
import type { KubeStep } from './payload-steps.ts';
import { octal, type PlacedFolder, type PlacedLink } from './playbook-tasks.ts';

export interface ContentFile {
  readonly step: Extract<KubeStep, 'runtime' | 'kubelet' | 'credentials'>;
  readonly path: string;
  readonly mode: number;
  readonly owner: string;
  readonly group: string;
  readonly bytes: Uint8Array;
}

export interface UnitVariables {
  readonly enabled: readonly string[];
  readonly disabled: readonly string[];
  readonly unmasked: readonly string[];
  /** Services that may have started with the former configuration; agent and kubelet are not among them. */
  readonly restarted: readonly string[];
}

export interface KubeContents {
  readonly files: readonly ContentFile[];
  readonly folders: readonly PlacedFolder[];
  readonly links: readonly PlacedLink[];
  readonly users: readonly string[];
  readonly units: UnitVariables;
}

const runtimeFolders = [posix.dirname(containerdConfig), '/etc/crio', '/etc/containers', cniConfigFolder];
const runtimeUnits = [unitNames.containerd, 'crio.service'].map((unit) => `${unitFolder}/${unit}`);

function stepOf(path: string): 'runtime' | 'kubelet' {
  const isRuntime = runtimeFolders.some((folder) => path.startsWith(`${folder}/`));
  return isRuntime || runtimeUnits.some((unit) => path === unit || path.startsWith(`${unit}.d/`))
    ? 'runtime'
    : 'kubelet';
}

export function kubeContents(machineConfig: MachineConfig, added: readonly FileNode[]): KubeContents {
  const refuse = (subject: string, reason: string): Error =>
    payloadErrors.NOT_EXPRESSIBLE({ config: machineConfig.metadata.name, subject, reason });
  const { nodes, units } = wantedState(machineConfig.spec);
  const served = servedFiles(added, refuse);
  const isServed = new Set(served.map(({ path }) => path));
  const own = [...nodes.values()].filter(({ path }) => !isServed.has(path));
  return {
    files: [...own.flatMap((node) => fileOf(node, refuse)), ...served],
    folders: own.flatMap((node) =>
      node.kind === 'folder' ? [{ path: node.path, mode: octal(node.mode), ...ownerNames(node.owner) }] : [],
    ),
    links: own.flatMap((node) => (node.kind === 'link' ? [{ path: node.path, target: node.target }] : [])),
    users: [...new Set(own.map(({ owner }) => owner.user))].flatMap((user) => (typeof user === 'string' ? [user] : [])),
    units: unitVariables([...units.values()], own),
  };
}

type Refuse = (subject: string, reason: string) => Error;

function fileOf(node: WantedNode, refuse: Refuse): readonly ContentFile[] {
  if (node.kind === 'hard link') throw refuse(node.path, 'is a second name of another file');
  if (node.kind !== 'file') return [];
  if ('elsewhere' in node.contents) throw refuse(node.path, 'is fetched from elsewhere or appended to');
  const { path, mode, owner, contents } = node;
  return [{ step: stepOf(path), path, mode, ...ownerNames(owner), bytes: contents.bytes }];
}

/**
 * What is added for each machine. The config that was served is at once the one that the machine has: no first boot
 * follows that could take it over, so the file that asks for one is left out.
 */
function servedFiles(added: readonly FileNode[], refuse: Refuse): readonly ContentFile[] {
  const files = added
    .filter(({ path }) => path !== daemonFiles.encapsulated)
    .map(({ path, mode = 0o600, contents = {} }): ContentFile => {
      const read = readInlineContents(contents);
      if (read.status !== 'inline') throw refuse(path, 'has no contents of its own');
      return { step: 'credentials', path, mode, owner: '0', group: '0', bytes: read.bytes };
    });
  const current = files.find(({ path }) => path === daemonFiles.servedMachineConfig);
  if (current === undefined) throw refuse(daemonFiles.servedMachineConfig, 'is missing');
  return [...files, { ...current, path: daemonFiles.currentConfig }];
}

function ownerNames({ user, group }: WantedOwner): { readonly owner: string; readonly group: string } {
  return { owner: String(user), group: String(group) };
}

function unitVariables(
  units: readonly { readonly name: string; readonly isEnabled: boolean | undefined; readonly isMasked: boolean }[],
  nodes: readonly WantedNode[],
): UnitVariables {
  const live = units.filter(({ isMasked }) => !isMasked);
  const named = (isEnabled: boolean): readonly string[] =>
    live.filter((unit) => unit.isEnabled === isEnabled).map(({ name }) => name);
  const later: readonly string[] = [unitNames.agent, unitNames.kubelet];
  return {
    enabled: named(true),
    disabled: named(false).filter((name) => !later.includes(name)),
    unmasked: nodes.flatMap(({ kind, path }) => (kind === 'no mask' ? [path.slice(unitFolder.length + 1)] : [])),
    restarted: named(true).filter((name) => name.endsWith('.service') && !later.includes(name)),
  };
}
