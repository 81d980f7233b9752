// Paths between the user and the program: as the user types them, as the program reads them.
import { dirname, join, relative, resolve } from 'node:path';
import type { Host } from '../../host/host.ts';
import type { Invocation } from './verb.ts';

/** A path of the asset folder as the user would type it in the working folder. */
export function shownPath({ host, global }: Pick<Invocation, 'host' | 'global'>, path = ''): string {
  const full = join(global.dir, path);
  const short = relative(host.environment.workingFolder, full);
  if (short === '') return '.';
  return short.startsWith('..') ? full : short;
}

/** The absolute path of what the user typed in the working folder. */
export function typedPath({ environment }: Pick<Host, 'environment'>, path: string): string {
  return resolve(environment.workingFolder, path);
}

/** The checkout that this program runs from. Sources and bundle both lie one folder below it. */
export async function projectFolder(host: Host): Promise<string> {
  return join(dirname(await host.files.realPath(host.environment.programPath)), '..');
}
