// Whether a restore may begin, continues, or must not happen: pure functions of the backup, the machines that are there
// and the restore that was begun before.
import type { MachineRole } from '../contract/machine-role.ts';
import type { BackupManifest } from './backup-manifest.ts';

/** A restore that was begun and is not over, as its journal says. */
export interface RestoreUnderWay {
  readonly id: string;
  readonly beganAt: string;
  /** The digest of the snapshot that it restores. */
  readonly sha256: string;
}

export interface RestoreSight {
  readonly sha256: string;
  readonly underWay: RestoreUnderWay | undefined;
  readonly machines: readonly { readonly name: string; readonly role: MachineRole }[];
  /** The person said that masters which are there may be destroyed. */
  readonly mayReplace: boolean;
}

export type RestoreDecision =
  /** `destroyed` go first. */
  | { readonly kind: 'begin'; readonly destroyed: readonly string[] }
  | { readonly kind: 'continue'; readonly underWay: RestoreUnderWay }
  | { readonly kind: 'masters-live'; readonly machines: readonly string[] }
  | { readonly kind: 'another-under-way'; readonly began: string; readonly machines: readonly string[] };

/** The machines of a restore that is under way are its own: the same command never destroys them. */
export function decideRestore({ sha256, underWay, machines, mayReplace }: RestoreSight): RestoreDecision {
  const living = machines.filter(({ role }) => role !== 'worker').map(({ name }) => name);
  if (living.length === 0) return { kind: 'begin', destroyed: [] };
  if (underWay?.sha256 === sha256) return { kind: 'continue', underWay };
  if (mayReplace) return { kind: 'begin', destroyed: living };
  return underWay === undefined
    ? { kind: 'masters-live', machines: living }
    : { kind: 'another-under-way', began: underWay.beganAt, machines: living };
}

/** What of a backup is newer than the release that would read it. */
export interface NewerPart {
  readonly what: string;
  readonly backup: string;
  readonly here: string;
}

export interface ReleaseVersions {
  readonly kubernetes: string;
  readonly etcd: string;
}

/** The first part that is too new; undefined where the release can take the backup. */
export function newerPart({ release, etcd }: BackupManifest, here: ReleaseVersions): NewerPart | undefined {
  const parts: readonly NewerPart[] = [
    { what: 'the storage of etcd', backup: etcd.storageVersion, here: here.etcd },
    { what: 'Kubernetes', backup: release.kubernetes, here: here.kubernetes },
  ];
  return parts.find((part) => isNewerMinor(part.backup, part.here));
}

/** Patch releases of one minor version read each other's data. */
function isNewerMinor(one: string, other: string): boolean {
  const [[major, minor], [otherMajor, otherMinor]] = [minorOf(one), minorOf(other)];
  return major > otherMajor || (major === otherMajor && minor > otherMinor);
}

function minorOf(version: string): readonly [number, number] {
  const [, major = '0', minor = '0'] = /^v?(\d+)\.(\d+)/.exec(version) ?? [];
  return [Number(major), Number(minor)];
}
