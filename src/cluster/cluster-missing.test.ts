import { expect, test } from 'vitest';
import { missingText, waitingFor } from '../contract/missing.ts';
import { missingNow, movementKeys } from './cluster-missing.ts';
import type { ClusterObservation } from './observe-cluster.ts';

const at = '2026-01-01T00:00:00Z';

/** A bootstrap machine that waits for master-1, and a master whose first boot asks for its config. */
function observed({ behind, attempts }: { readonly behind: number; readonly attempts: number }): ClusterObservation {
  const detail = `${behind} entries behind`;
  const missing = [waitingFor('etcd on master-1', 'to catch up', { detail, machines: ['master-1'] })];
  const url = 'https://api-int.demo.test:22623/config/master';
  const waiting = { url, attempts, since: at, reason: 'connection refused' };
  const machine = { firstBoot: undefined, agent: undefined, firstBootText: 'boots' } as const;
  return {
    bootstrap: { stage: 'masters', state: 'running', at, progress: { waiter: 'etcd', missing }, isComplete: false },
    machines: [
      { ...machine, name: 'bootstrap', role: 'bootstrap' },
      {
        ...machine,
        name: 'master-1',
        role: 'master',
        firstBoot: { phase: 'fetch', startedAt: at, updatedAt: at, waitingFor: waiting },
      },
    ],
  };
}

test('each machine has its own words, the bootstrap machine last with the machines that it waits for', () => {
  const missing = missingNow(observed({ behind: 12, attempts: 1 }));
  expect(missing.map(missingText)).toEqual([
    'master-1: asks api-int:22623 for its config: connection refused',
    'bootstrap: masters: etcd waits: etcd on master-1 to catch up: 12 entries behind',
  ]);
  expect(missing[1]?.machines).toContain('master-1');
});

test('amounts and repeated requests are no movement, another stage is', () => {
  const before = observed({ behind: 12, attempts: 1 });
  expect(movementKeys(observed({ behind: 7, attempts: 9 }))).toEqual(movementKeys(before));
  const bootstrap = { stage: 'control-planes', state: 'running', at, isComplete: false } as const;
  expect(movementKeys({ ...before, bootstrap })).not.toEqual(movementKeys(before));
});
