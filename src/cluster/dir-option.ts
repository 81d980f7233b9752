// How a person says which cluster they mean, from where they are: nothing where the folder is the usual one.
import { relative } from 'node:path';
import type { Host } from '../host/host.ts';

const usualFolder = 'cluster';

/** ` --dir lab`, with its space, or an empty text. */
export function dirOption({ environment }: Pick<Host, 'environment'>, dir: string): string {
  const short = relative(environment.workingFolder, dir);
  if (short === usualFolder) return '';
  return ` --dir ${short === '' ? '.' : short.startsWith('..') ? dir : short}`;
}
