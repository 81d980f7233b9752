// The SSH public keys of the user on this machine, the preferred one first. Private keys are never opened.
import { join } from 'node:path';
import { isError } from '../errors/firstlight-error.ts';
import { hostErrors } from '../host/errors.ts';
import type { Files } from '../host/files.ts';
import { sshKeyLines, sshKeysMistake, sshKeyTypes } from './ssh-public-key.ts';

export interface FoundSshKey {
  /** The name in ~/.ssh. */
  readonly file: string;
  readonly line: string;
  readonly comment: string;
}

const sizeMaxBytes = 16 * 1024;

export async function findSshKeys(files: Files, homeFolder: string): Promise<readonly FoundSshKey[]> {
  const folder = join(homeFolder, '.ssh');
  const names = (await unlessRefused(() => files.list(folder))) ?? [];
  const found: FoundSshKey[] = [];
  for (const file of names.filter((name) => name.endsWith('.pub'))) {
    const key = await unlessRefused(() => readKey(files, join(folder, file)));
    if (key !== undefined) found.push({ file, ...key });
  }
  return found.sort((a, b) => rank(a) - rank(b) || (a.file < b.file ? -1 : 1));
}

async function readKey(files: Files, path: string): Promise<Omit<FoundSshKey, 'file'> | undefined> {
  const facts = await files.facts(path);
  if (facts === undefined || facts.sizeBytes > sizeMaxBytes) return undefined;
  const text = await files.readText(path);
  const [line, second] = sshKeyLines(text);
  if (line === undefined || second !== undefined || sshKeysMistake(line) !== undefined) return undefined;
  return { line, comment: line.split(/\s+/).slice(2).join(' ') };
}

/** A folder or file that may not be read offers no key; that is no reason to stop. */
async function unlessRefused<T>(read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (isError(error, hostErrors.FILE)) return undefined;
    throw error;
  }
}

function rank({ line }: FoundSshKey): number {
  return sshKeyTypes.findIndex((type) => line.startsWith(`${type} `));
}
