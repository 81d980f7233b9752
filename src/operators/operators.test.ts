// What each operator of the table says of a cluster, from objects as the API has them.
import { describe, expect, test } from 'vitest';
import { machineConfigPoolKind } from '../contract/machine-config-pool.ts';
import type { KubernetesObject } from '../kubernetes/object.ts';
import { operators } from './operators.ts';
import { minutesAgo, notReadySince, samplePod, seenNode, sightOf } from './sample-sight.ts';

const masters = ['master-0', 'master-1', 'master-2'];
const nodes = [...masters, 'worker-0'].map((name) => seenNode(name));
const podsOf = (component: string, statuses: readonly (object | undefined)[] = []): readonly KubernetesObject[] =>
  masters.map((node, i) => {
    const status = statuses[i];
    return samplePod({ name: `${component}-${node}`, node, ...(status === undefined ? {} : { status }) });
  });
const cluster = (kind: string, spec: object): KubernetesObject => ({
  apiVersion: 'config.openshift.io/v1',
  kind,
  metadata: { name: 'cluster' },
  spec,
});
const pool = (conditions: readonly object[]): KubernetesObject => ({
  ...machineConfigPoolKind,
  metadata: { name: 'worker' },
  status: { machineCount: 2, updatedMachineCount: 1, conditions },
});
const condition = (type: string, isSo: boolean, message = ''): object => ({
  type,
  status: isSo ? 'True' : 'False',
  message,
});
const settled = [condition('RenderDegraded', false), condition('Updated', true), condition('Updating', false)];

interface Case {
  readonly operator: string;
  readonly title: string;
  readonly objects: readonly KubernetesObject[];
  /** Available, Progressing, Degraded. */
  readonly verdicts: readonly [boolean, boolean, boolean];
  readonly says: string;
}

const network = cluster('Network', { networkType: 'Firstlight' });
const cases: readonly Case[] = [
  {
    operator: 'etcd',
    title: 'all members are Ready',
    objects: [...nodes, ...podsOf('etcd')],
    verdicts: [true, false, false],
    says: 'etcd is Ready on 3 of 3 masters',
  },
  {
    operator: 'etcd',
    title: 'one member has been away for long',
    objects: [...nodes, ...podsOf('etcd', [undefined, notReadySince(20)])],
    verdicts: [true, false, true],
    says: 'pod etcd-master-1 on master-1 is not Ready',
  },
  {
    operator: 'etcd',
    title: 'two members of three are away',
    objects: [...nodes, ...podsOf('etcd', [notReadySince(1), notReadySince(1)])],
    verdicts: [false, true, false],
    says: 'etcd is Ready on 1 of 3 masters: pod etcd-master-0 on master-0',
  },
  {
    operator: 'kube-apiserver',
    title: 'one server is enough',
    objects: [...nodes, ...podsOf('kube-apiserver', [notReadySince(1), notReadySince(1)])],
    verdicts: [true, true, false],
    says: 'pod kube-apiserver-master-1 on master-1',
  },
  {
    operator: 'kube-scheduler',
    title: 'a new master has no pod yet',
    objects: [...nodes, seenNode('master-3', { age: 1 }), ...podsOf('kube-scheduler')],
    verdicts: [true, true, false],
    says: 'there is no pod kube-scheduler-master-3: the agent of master-3 has not written it',
  },
  {
    operator: 'kube-controller-manager',
    title: 'a master runs another image',
    objects: [
      ...nodes,
      ...podsOf('kube-controller-manager').slice(1),
      samplePod({ name: 'kube-controller-manager-master-0', node: 'master-0', image: 'i@sha256:2' }),
    ],
    verdicts: [true, true, false],
    says: 'masters run different images: master-0 i@sha256:2; master-1, master-2 i@sha256:1',
  },
  {
    operator: 'kube-controller-manager',
    title: 'the machine of a pod does not report',
    objects: [
      seenNode('master-0', {
        status: { conditions: [{ type: 'Ready', status: 'Unknown', message: 'Kubelet stopped posting node status.' }] },
      }),
      samplePod({ name: 'kube-controller-manager-master-0', node: 'master-0', status: notReadySince(1) }),
    ],
    verdicts: [false, true, false],
    says: '(node master-0 is not Ready: Kubelet stopped posting node status.)',
  },
  {
    operator: 'authentication',
    title: 'names the issuers that API servers believe',
    objects: [
      ...nodes,
      ...podsOf('kube-apiserver'),
      cluster('OAuth', { identityProviders: [{ openID: { issuer: 'https://login.example.test' } }] }),
    ],
    verdicts: [true, false, false],
    says: 'issuers: https://login.example.test',
  },
  {
    operator: 'network',
    title: 'every node has its range',
    objects: [...nodes, network],
    verdicts: [true, false, false],
    says: '4 of 4 nodes have a network of type Firstlight',
  },
  {
    operator: 'network',
    title: 'a node has just come',
    objects: [...nodes, seenNode('worker-1', { age: 1, spec: {} }), network],
    verdicts: [true, true, false],
    says: 'node worker-1 has no range for pods',
  },
  {
    operator: 'network',
    title: 'the runtime of a node finds no network',
    objects: [
      ...nodes,
      seenNode('worker-1', {
        status: {
          conditions: [
            {
              type: 'Ready',
              status: 'False',
              message: 'container runtime network not ready: NetworkReady=false',
              lastTransitionTime: minutesAgo(12),
            },
          ],
        },
      }),
      network,
    ],
    verdicts: [true, false, true],
    says: 'node worker-1 has no network: container runtime network not ready',
  },
  {
    operator: 'network',
    title: 'there is no node',
    objects: [],
    verdicts: [false, false, false],
    says: 'no machine is a node',
  },
  {
    operator: 'machine-config',
    title: 'all machines have their configuration',
    objects: [pool(settled)],
    verdicts: [true, false, false],
    says: 'worker 1 of 2',
  },
  {
    operator: 'machine-config',
    title: 'a pool is rolled out',
    objects: [pool([condition('Updated', false), condition('Updating', true, '1 of 2 nodes have rendered-worker-a')])],
    verdicts: [true, true, false],
    says: 'pool worker: 1 of 2 nodes have rendered-worker-a',
  },
  {
    operator: 'machine-config',
    title: 'a node cannot take its configuration',
    objects: [pool([...settled, condition('Degraded', true, 'worker-0: /etc/motd was changed by hand')])],
    verdicts: [true, false, true],
    says: 'pool worker: worker-0: /etc/motd was changed by hand',
  },
  {
    operator: 'machine-config',
    title: 'a configuration cannot be rendered',
    objects: [pool([condition('RenderDegraded', true, '99-worker-x: not valid'), condition('Updated', true)])],
    verdicts: [false, false, false],
    says: '99-worker-x: not valid',
  },
  {
    operator: 'machine-config',
    title: 'nobody has looked at a pool',
    objects: [pool([])],
    verdicts: [false, false, false],
    says: 'the pool controller has not looked at pool worker yet',
  },
  {
    operator: 'dns',
    title: 'nothing is applied yet',
    objects: [],
    verdicts: [false, true, false],
    says: 'kube-system/coredns',
  },
];

describe('the operator', () => {
  test.each(cases)('$operator: $title', ({ operator, objects, verdicts, says }) => {
    const judged = operators.find(({ name }) => name === operator)?.judge(sightOf(objects));
    const { available, progressing, degraded, versions } = judged ?? {};
    expect([available?.isSo, progressing?.isSo, degraded?.isSo]).toEqual(verdicts);
    expect([available, progressing, degraded].map((verdict) => verdict?.message).join('\n')).toContain(says);
    expect(versions?.['operator']).toBe('1.0.0');
  });
});

describe('the table of operators', () => {
  test('is in the order of run-levels, and every name is there once', () => {
    const levels = operators.map(({ level }) => level);
    expect(levels).toEqual(levels.toSorted((one, other) => one - other));
    expect(new Set(operators.map(({ name }) => name)).size).toBe(operators.length);
  });

  test.each(operators.map((operator) => [operator.name, operator] as const))(
    '%s says of an empty cluster that it is not available, with a reason, and is not degraded',
    (_, { judge }) => {
      const { available, degraded } = judge(sightOf([]));
      expect(available.isSo).toBe(false);
      expect(available.message).not.toBe('');
      expect(degraded.isSo).toBe(false);
    },
  );
});
