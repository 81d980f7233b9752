// `firstlight machine-config prepare`: what firstlight-prepare.service runs on every machine at every boot.
import { prepareNode } from '../../machine-boot/prepare-node.ts';
import type { CommandBody } from '../frame/verb.ts';

export const machineConfigPrepare: CommandBody = async ({ host }) => {
  const { nodeName, nodeAddresses, files } = await prepareNode(host);
  return {
    data: { nodeName, nodeAddresses, files: files.map(({ path }) => path) },
    text: `prepared ${nodeName} with ${nodeAddresses.join(' and ')}\n`,
  };
};
