// Records in the cluster that this master holds its keys, so that a stolen copy of its single-use token is of no use.
// Until then the token stays valid: a master whose answer was lost requests its keys with the same token again.
import { recordKeysHeld } from '../../admission/bootstrap-token-secret.ts';
import { waitingFor } from '../../contract/missing.ts';
import { acted, type Duty, settled, waiting } from '../duty.ts';
import { readToken, redemptionFile } from './keys.ts';

export const spentTokenDuty: Duty = {
  name: 'spent-token',
  roles: ['master'],
  needs: ['keys', 'credentials', 'cluster-view'],
  run: async (agent) => {
    const { host, node, cluster, signal } = agent;
    if ((await host.files.facts(redemptionFile)) === undefined) return settled();
    // Before the kubelet of this machine has joined, the API may not know the token yet.
    const hasJoined = (cluster.nodes ?? []).some(({ metadata }) => metadata.name === node.name);
    if (!hasJoined) return waiting(waitingFor(node.name, 'to be a node'));
    const [id = ''] = (await readToken(host)).split('.');
    const isKnown = await recordKeysHeld(await agent.api(), id, { node: node.name, signal });
    await host.files.remove(redemptionFile);
    return acted(isKnown ? 'told that the keys are here' : 'found its token gone');
  },
};
