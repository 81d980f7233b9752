// The files of the asset folder: modes, owners, and what is in them, without keeping any of it.
import { join } from 'node:path';
import { parse as parseYaml } from 'yaml';
import { z } from 'zod';
import { ownFolder } from '../../contract/asset-folder.ts';
import { FirstlightError } from '../../errors/firstlight-error.ts';
import type { Files } from '../../host/files.ts';
import { readCertificate } from '../../pki/certificate.ts';
import type { FolderEntry } from '../facts.ts';
import { contentKind } from '../inside/look-at-security.ts';

export async function collectFolder(files: Files, dir: string): Promise<readonly FolderEntry[]> {
  return entriesBelow(files, dir, '.');
}

async function entriesBelow(files: Files, dir: string, path: string): Promise<readonly FolderEntry[]> {
  const facts = await files.facts(join(dir, path));
  if (facts === undefined) return [];
  const { kind, mode, uid, sizeBytes } = facts;
  if (kind === 'file') return [{ path, kind, mode, uid, ...(await contentOf(files, dir, path, sizeBytes)) }];
  if (kind !== 'folder') return [];
  // What firstlight itself keeps there is not read: the mode of the folder closes it.
  const names = path === ownFolder ? [] : ((await files.list(join(dir, path))) ?? []);
  const inside = await Promise.all(
    names.map((name) => entriesBelow(files, dir, path === '.' ? name : `${path}/${name}`)),
  );
  return [{ path, kind, mode, uid }, ...inside.flat()];
}

type Content = Pick<FolderEntry, 'holds' | 'organizations' | 'notAfter'>;

/** No key, certificate or kubeconfig is larger. */
const readBytes = 256 * 1024;

async function contentOf(files: Files, dir: string, path: string, sizeBytes: number): Promise<Content> {
  if (path.endsWith('.ign')) return { holds: 'ignition' };
  if (sizeBytes > readBytes) return {};
  const text = await files.readText(join(dir, path));
  const holds = contentKind(text);
  if (holds === undefined || holds === 'key') return holds === undefined ? {} : { holds };
  const pem = holds === 'certificate' ? text : clientCertificate(text);
  return { holds, ...(pem === undefined ? {} : certificateFacts(pem)) };
}

const kubeconfigUsers = z.object({
  users: z.array(z.object({ user: z.object({ 'client-certificate-data': z.string().optional() }) })),
});

function clientCertificate(kubeconfig: string): string | undefined {
  const [first] = kubeconfigUsers.safeParse(parseYaml(kubeconfig)).data?.users ?? [];
  const data = first?.user['client-certificate-data'];
  return data === undefined ? undefined : Buffer.from(data, 'base64').toString('utf8');
}

function certificateFacts(pem: string): Content {
  try {
    const { subject, notAfter } = readCertificate(pem);
    return { organizations: subject.organizations, notAfter: notAfter.toISOString() };
  } catch (error) {
    if (error instanceof FirstlightError) return {};
    throw error;
  }
}
