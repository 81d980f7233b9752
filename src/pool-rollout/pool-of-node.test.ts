import { expect, test } from 'vitest';
import { machineConfigPoolSchema } from '../machine-config/machine-config.ts';
import { allPools } from '../machine-config/pools.ts';
import { poolOfNode } from './pool-of-node.ts';

const custom = (name: string) =>
  machineConfigPoolSchema.parse({
    apiVersion: 'machineconfiguration.openshift.io/v1',
    kind: 'MachineConfigPool',
    metadata: { name },
    spec: { nodeSelector: { matchLabels: { [`node-role.kubernetes.io/${name}`]: '' } } },
  });
const pools = allPools([custom('infra'), custom('gpu')]);

test.each([
  [['worker'], { kind: 'member', pool: 'worker' }],
  [['worker', 'infra'], { kind: 'member', pool: 'infra' }],
  [['master', 'infra'], { kind: 'member', pool: 'master' }],
  [['worker', 'infra', 'gpu'], { kind: 'ambiguous', pools: ['gpu', 'infra'] }],
  [[], { kind: 'none' }],
])('a node with the roles %o is %o', (roles, membership) => {
  const labels = Object.fromEntries(roles.map((role) => [`node-role.kubernetes.io/${role}`, '']));
  expect(poolOfNode(labels, pools)).toEqual(membership);
});
