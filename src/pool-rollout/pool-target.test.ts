import { describe, expect, test } from 'vitest';
import { poolRollbackAnnotation } from '../contract/machine-config-node.ts';
import type { KubernetesObject } from '../kubernetes/object.ts';
import { poolTarget } from './pool-target.ts';

function pool(target: string, rollback?: object): KubernetesObject {
  const annotations = rollback === undefined ? {} : { [poolRollbackAnnotation]: JSON.stringify(rollback) };
  return {
    apiVersion: 'machineconfiguration.openshift.io/v1',
    kind: 'MachineConfigPool',
    metadata: { name: 'worker', annotations },
    spec: { configuration: { name: target, source: [{ name: '00-worker' }] } },
    status: {
      history: [{ name: 'good', startedAt: '2026-01-01T00:00:00Z', sources: ['00-worker', '98-y'], state: 'Done' }],
    },
  };
}
const rendered = { name: 'bad', sources: ['00-worker', '99-x'] };
const all = () => true;

describe('the target of a pool', () => {
  test('is what its MachineConfigs render to', () => {
    expect(poolTarget(pool('good'), rendered, all)).toEqual({ ...rendered, dropsRollback: false });
  });

  test('stays while they cannot be rendered', () => {
    expect(poolTarget(pool('good'), undefined, all)).toEqual({
      name: 'good',
      sources: ['00-worker'],
      dropsRollback: false,
    });
  });

  test('is what a person rolled back to, as long as they render to what was undone', () => {
    const rollback = { to: 'good', insteadOf: 'bad' };
    expect(poolTarget(pool('bad', rollback), rendered, all)).toEqual({
      name: 'good',
      sources: ['00-worker', '98-y'],
      dropsRollback: false,
    });
    const mended = { name: 'better', sources: ['00-worker'] };
    expect(poolTarget(pool('good', rollback), mended, all)).toEqual({ ...mended, dropsRollback: true });
  });

  test('is never a rendered config that the API does not have', () => {
    const seen = poolTarget(pool('bad', { to: 'lost', insteadOf: 'bad' }), rendered, (name) => name !== 'lost');
    expect(seen).toEqual({ ...rendered, dropsRollback: true });
  });
});
