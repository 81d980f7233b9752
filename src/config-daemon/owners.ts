// Users and groups of the machine: who owns a file that names its owner, and the one user whose password and keys a
// config may change. The names are looked up in the machine's own files, as Ignition does.
import type { FileFacts } from '../host/files.ts';
import type { Host } from '../host/host.ts';
import { configDaemonErrors } from './errors.ts';
import { runSystemProgram } from './system-program.ts';
import { managedUser, type WantedNode } from './wanted-state.ts';

const databases = { user: '/etc/passwd', group: '/etc/group' } as const;

export type OwnerOf = (node: Pick<WantedNode, 'path' | 'owner'>) => { readonly uid: number; readonly gid: number };

/** Throws CONFIGDAEMON_NO_USER for a name that the machine does not have. */
export async function readOwners(host: Host): Promise<OwnerOf> {
  const [users, groups] = [await idsIn(host, databases.user), await idsIn(host, databases.group)];
  const idOf = (kind: 'user' | 'group', name: number | string, path: string): number => {
    const id = typeof name === 'number' ? name : (kind === 'user' ? users : groups).get(name);
    if (id === undefined) throw configDaemonErrors.NO_USER({ path, kind, name: String(name) });
    return id;
  };
  return ({ path, owner }) => ({ uid: idOf('user', owner.user, path), gid: idOf('group', owner.group, path) });
}

export function isOwnedBy(facts: FileFacts, { uid, gid }: ReturnType<OwnerOf>): boolean {
  return facts.uid === uid && facts.gid === gid;
}

async function idsIn({ files }: Host, path: string): Promise<ReadonlyMap<string, number>> {
  const content = Buffer.from((await files.readIfPresent(path)) ?? new Uint8Array()).toString('utf8');
  const rows = content.split('\n').map((line) => line.split(':'));
  return new Map(rows.flatMap(([name, , id]) => (name === undefined || id === undefined ? [] : [[name, Number(id)]])));
}

export async function hasManagedUser(host: Host): Promise<boolean> {
  return (await idsIn(host, databases.user)).has(managedUser);
}

/** As Ignition makes it: with a home folder, and without a password. */
export async function makeManagedUser(host: Host): Promise<void> {
  await runSystemProgram(host, 'useradd', ['--create-home', '--password', '*', managedUser]);
}

export async function removeManagedUser(host: Host): Promise<void> {
  await runSystemProgram(host, 'userdel', ['--remove', managedUser]);
}

/** The hash of its password; `*` where it has none. */
export async function readPasswordHash({ files }: Host): Promise<string> {
  const content = Buffer.from((await files.readIfPresent('/etc/shadow')) ?? new Uint8Array()).toString('utf8');
  const row = content.split('\n').find((line) => line.startsWith(`${managedUser}:`));
  return row?.split(':')[1] || '*';
}

export async function setPasswordHash(host: Host, hash: string): Promise<void> {
  await runSystemProgram(host, 'chpasswd', ['--encrypted'], { input: `${managedUser}:${hash}\n` });
}
