// A path of the asset folder as the person would type it from where they are.
import { join, relative } from 'node:path';
import type { Invocation } from './verb.ts';

export function shownPath({ host, global }: Pick<Invocation, 'host' | 'global'>, path = ''): string {
  const full = join(global.dir, path);
  const short = relative(host.environment.workingFolder, full);
  if (short === '') return '.';
  return short.startsWith('..') ? full : short;
}
