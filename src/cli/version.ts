// `firstlight version`
import type { CommandBody } from './command.ts';
import { firstlightVersion } from './program.ts';

export const version: CommandBody = async ({ host }) => {
  const data = { firstlight: firstlightVersion, node: host.environment.nodePath };
  return { data, text: `firstlight ${firstlightVersion}\n` };
};
