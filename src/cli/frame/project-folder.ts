// The checkout that this program runs from. Sources and bundle both lie one folder below it.
import { dirname, join } from 'node:path';
import type { Host } from '../../host/host.ts';

export async function projectFolder(host: Host): Promise<string> {
  return join(dirname(await host.files.realPath(host.environment.programPath)), '..');
}
