import { describe, expect, test } from 'vitest';
import { renderedFinalizer } from '../contract/machine-config-pool.ts';
import type { KubernetesObject } from '../kubernetes/object.ts';
import { rolloutNode } from './rollout-node.ts';
import { staleConfigs } from './stale-configs.ts';

const config = (name: string, day: number, more: object = {}): KubernetesObject => ({
  apiVersion: 'machineconfiguration.openshift.io/v1',
  kind: 'MachineConfig',
  metadata: {
    name,
    creationTimestamp: `2026-01-${String(day).padStart(2, '0')}T00:00:00Z`,
    finalizers: [renderedFinalizer],
    ...more,
  },
});
const node = rolloutNode({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: 'w', annotations: { 'machineconfiguration.openshift.io/currentConfig': 'rendered-worker-1' } },
});
const deletionTimestamp = '2026-02-01T00:00:00Z';

describe('rendered configs', () => {
  test('go when ten newer ones of their pool are unused too, and nothing names them', () => {
    const configs = Array.from({ length: 13 }, (_, index) => config(`rendered-worker-${index}`, index + 1));
    const stale = staleConfigs([...configs, config('rendered-infra-a', 1)], { pools: [], nodes: [node] });
    expect(stale.remove).toEqual(['rendered-worker-2', 'rendered-worker-0']);
  });

  test('that somebody deletes go when nothing names them, and stay while a node or a pool does', () => {
    const pool = {
      apiVersion: 'machineconfiguration.openshift.io/v1',
      kind: 'MachineConfigPool',
      metadata: { name: 'worker' },
      spec: { configuration: { name: 'rendered-worker-2' } },
    };
    const deleted = ['1', '2', '3'].map((id) => config(`rendered-worker-${id}`, 1, { deletionTimestamp }));
    expect(staleConfigs(deleted, { pools: [pool], nodes: [node] })).toEqual({
      remove: [],
      release: ['rendered-worker-3'],
      held: [
        { name: 'rendered-worker-1', by: ['node w'] },
        { name: 'rendered-worker-2', by: ['pool worker'] },
      ],
    });
  });
});
