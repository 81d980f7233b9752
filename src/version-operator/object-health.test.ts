import { describe, expect, test } from 'vitest';
import { clusterOperatorKind } from '../contract/cluster-version.ts';
import type { KubernetesObject } from '../kubernetes/object.ts';
import { operatorProblem, workloadProblem } from './object-health.ts';

const now = new Date('2026-01-01T12:00:00Z');
const ago = (minutes: number): string => new Date(now.getTime() - minutes * 60_000).toISOString();
const wanted = operator('dns', {}, '0.2.0');

function operator(
  name: string,
  conditions: Readonly<Record<string, readonly [string, number]>>,
  version: string,
): KubernetesObject {
  const list = Object.entries(conditions).map(([type, [status, minutes]]) => ({
    type,
    status,
    message: `${type} says why`,
    lastTransitionTime: ago(minutes),
  }));
  const status = { conditions: list, versions: [{ name: 'operator', version }] };
  return { ...clusterOperatorKind, metadata: { name }, status };
}

describe('a ClusterOperator', () => {
  const up = { Available: ['True', 1], Progressing: ['False', 1], Degraded: ['False', 1] } as const;
  const coming = { Available: ['False', 1], Progressing: ['True', 1], Degraded: ['False', 1] } as const;
  const down = { Available: ['False', 1], Progressing: ['False', 1], Degraded: ['False', 1] } as const;
  const degraded = (minutes: number) => ({ ...up, Degraded: ['True', minutes] }) as const;
  const rows = [
    ['that is as it should be', 'Reconciling', up, '0.2.0', undefined],
    ['that has said nothing yet', 'Initializing', {}, '0.2.0', ['ClusterOperatorNotAvailable', 'wait']],
    ['that is coming up', 'Initializing', coming, '0.2.0', ['ClusterOperatorNotAvailable', 'wait']],
    [
      'that has been coming for an hour',
      'Initializing',
      { ...coming, Progressing: ['True', 60] },
      '0.2.0',
      ['ClusterOperatorNotAvailable', 'slow'],
    ],
    ['that is down and does nothing', 'Initializing', down, '0.2.0', ['ClusterOperatorNotAvailable', 'fail']],
    ['that is down while updating', 'Updating', coming, '0.2.0', ['ClusterOperatorNotAvailable', 'fail']],
    ['that is degraded at first', 'Initializing', degraded(1), '0.2.0', ['ClusterOperatorDegraded', 'fail']],
    ['that is degraded for a moment', 'Updating', degraded(1), '0.2.0', ['ClusterOperatorDegraded', 'wait']],
    ['that stays degraded', 'Updating', degraded(41), '0.2.0', ['ClusterOperatorDegraded', 'fail']],
    ['that has the old version', 'Updating', up, '0.1.0', ['ClusterOperatorUpdating', 'wait']],
    [
      'that keeps the old version',
      'Updating',
      { ...up, Progressing: ['True', 31] },
      '0.1.0',
      ['ClusterOperatorUpdating', 'slow'],
    ],
    ['whose version is not asked for yet', 'Initializing', up, '0.1.0', undefined],
  ] as const;

  test.each(rows)('%s (%s)', (_what, state, conditions, version, problem) => {
    const found = operatorProblem(wanted, operator('dns', conditions, version), { state, now });
    expect(found && [found.reason, found.effect]).toEqual(problem);
  });

  test('of machine-config may take 90 minutes, because nodes go one after the other', () => {
    const updating = { ...up, Progressing: ['True', 80] } as const;
    const found = operatorProblem(wanted, operator('machine-config', updating, '0.1.0'), { state: 'Updating', now });
    expect(found?.effect).toBe('wait');
  });

  test('that is degraded keeps nothing back while initializing, and the message has its own words', () => {
    const found = operatorProblem(wanted, operator('dns', degraded(1), '0.2.0'), { state: 'Initializing', now });
    expect(found).toMatchObject({ blocks: false, message: 'Cluster operator dns is degraded: Degraded says why' });
  });
});

describe('a workload', () => {
  const workload = (kind: string, status: object): KubernetesObject => ({
    apiVersion: kind === 'Job' ? 'batch/v1' : 'apps/v1',
    kind,
    metadata: { name: 'a', namespace: 'n' },
    status,
  });
  const conditions = (given: Readonly<Record<string, string>>): object => ({
    conditions: Object.entries(given).map(([type, status]) => ({ type, status, message: `${type} says why` })),
  });
  const rows = [
    ['Deployment', conditions({ Available: 'True', Progressing: 'True' }), undefined],
    ['Deployment', conditions({ Available: 'False', Progressing: 'True' }), undefined],
    ['Deployment', conditions({ Available: 'False', Progressing: 'False' }), 'WorkloadNotAvailable'],
    ['Deployment', conditions({ Available: 'True', Progressing: 'False' }), 'WorkloadNotProgressing'],
    ['Deployment', conditions({ Available: 'True', ReplicaFailure: 'True' }), 'WorkloadNotProgressing'],
    ['DaemonSet', { desiredNumberScheduled: 0 }, undefined],
    ['DaemonSet', { desiredNumberScheduled: 3, numberAvailable: 1 }, undefined],
    ['DaemonSet', { desiredNumberScheduled: 3 }, 'WorkloadNotAvailable'],
    ['Job', conditions({ Complete: 'True' }), undefined],
    ['Job', conditions({ Failed: 'True' }), 'WorkloadNotProgressing'],
    ['Job', {}, 'WorkloadNotAvailable'],
    ['ConfigMap', {}, undefined],
  ] as const;

  test.each(rows)('%s %j → %s', (kind, status, reason) => {
    expect(workloadProblem(workload(kind, status))?.reason).toBe(reason);
  });
});
