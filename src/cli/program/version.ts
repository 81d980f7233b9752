// `firstlight version`
import type { CommandBody } from '../frame/verb.ts';
import { firstlightVersion } from '../frame/program.ts';

export const version: CommandBody = async ({ host }) => {
  const { nodePath, architecture } = host.environment;
  return {
    data: { firstlight: firstlightVersion, architecture, node: nodePath },
    text: `firstlight ${firstlightVersion}\n`,
  };
};
