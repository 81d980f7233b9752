// Files that a machine wrote, read from outside of it, also while it is stopped. Root of the machine decides what lies
// at a path: a link that leads out of the machine's folder, a pipe that nobody fills or a file without end is no file.
import { isError } from '../../errors/firstlight-error.ts';
import { hostErrors } from '../../host/errors.ts';
import type { Files } from '../../host/files.ts';
import type { MachineFiles } from '../platform.ts';
import { machinePaths } from './cluster-folder.ts';

const sizeBytesMax = 64 * 1024 ** 2;

/** What a machine changed of its root lies in the upper folder of its overlay. */
export function machineFiles(files: Files, cluster: string, machine: string): MachineFiles {
  const { upper } = machinePaths(cluster, machine);
  const within = async (path: string): Promise<string | undefined> => {
    const real = await resolved(files, `${upper}${path}`);
    return real?.startsWith(`${await resolved(files, upper)}/`) === true ? real : undefined;
  };
  return {
    readIfPresent: async (path) => {
      const real = await within(path);
      if (real === undefined) return undefined;
      const facts = await files.facts(real);
      return facts?.kind === 'file' && facts.sizeBytes <= sizeBytesMax ? files.readIfPresent(real) : undefined;
    },
    list: async (path) => {
      const real = await within(path);
      if (real === undefined) return undefined;
      return (await files.facts(real))?.kind === 'folder' ? files.list(real) : undefined;
    },
  };
}

/** Undefined if there is no such path. */
async function resolved(files: Files, path: string): Promise<string | undefined> {
  return files.realPath(path).catch((error: unknown) => {
    if (isError(error, hostErrors.FILE)) return undefined;
    throw error;
  });
}
