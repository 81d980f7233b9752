// Controls of our own, about the asset folder: whoever reads it can become the administrator, a master, or the signer
// of any certificate of the cluster.
import { ownFolder } from '../../contract/asset-folder.ts';
import { type AuditControl, type AuditFinding, failed, verdictOf } from '../control.ts';
import type { AuditFacts, FolderEntry } from '../facts.ts';
import { modeText } from '../machine-looks.ts';

const secretFolders = ['tls', 'auth', ownFolder];

function isSecret({ path, kind, holds }: FolderEntry): boolean {
  return kind === 'file' && (path.startsWith('auth/') || (holds !== undefined && holds !== 'certificate'));
}

function tooOpen(entries: readonly FolderEntry[], most: number): readonly AuditFinding[] {
  return entries
    .filter(({ mode }) => (mode & ~most & 0o777) !== 0)
    .map(({ path, mode }) => ({ where: path, seen: `is ${modeText(mode)}, at most ${modeText(most)}` }));
}

function foreign(folder: readonly FolderEntry[]): readonly AuditFinding[] {
  const root = folder.find(({ path }) => path === '.');
  return folder
    .filter(({ uid }) => uid !== root?.uid)
    .map(({ path, uid }) => ({ where: path, seen: `belongs to user ${uid}, the folder to ${root?.uid ?? 'nobody'}` }));
}

const monthMs = 30 * 24 * 3600 * 1000;

function ending({ folder, now }: AuditFacts): readonly AuditFinding[] {
  return folder
    .filter(({ notAfter }) => notAfter !== undefined && Date.parse(notAfter) - now.getTime() < monthMs)
    .map(({ path, notAfter }) => ({ where: path, seen: `ends on ${notAfter?.slice(0, 10) ?? ''}` }));
}

export const assetFolderControls: readonly AuditControl[] = [
  {
    id: 'F.1',
    title: 'folders with secrets: mode 0700 at most',
    why: 'A folder that others may enter shows them which secrets there are.',
    remedy: 'chmod 700 what is named.',
    look: ({ folder }) => {
      const found = folder.filter(({ path, kind }) => kind === 'folder' && secretFolders.includes(path));
      return found.length === 0
        ? failed([{ where: '.', seen: 'has no folder tls or auth' }])
        : verdictOf(tooOpen(found, 0o700));
    },
  },
  {
    id: 'F.2',
    title: 'keys, kubeconfigs and Ignition configs: mode 0600 at most',
    why: 'Each of them is a way into the cluster: an Ignition config contains keys or the token of a pool.',
    remedy: 'chmod 600 what is named, and replace what may have been read.',
    look: ({ folder }) => verdictOf(tooOpen(folder.filter(isSecret), 0o600)),
  },
  {
    id: 'F.3',
    title: 'one user owns the whole folder',
    why: 'Another owner of a file in it can change what the next machine is made from.',
    remedy: 'chown what is named to the owner of the folder.',
    look: ({ folder }) => verdictOf(foreign(folder)),
  },
  {
    id: 'F.4',
    title: 'no certificate ends within a month',
    why: 'A certificate that ends unseen stops what it vouches for.',
    remedy: 'firstlight explain asset NAME says what makes the file; docs/security.md says how to renew it.',
    look: (facts) => verdictOf(ending(facts)),
  },
];
