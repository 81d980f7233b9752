import { expect, test } from 'vitest';
import { type Missing, waitingFor } from '../contract/missing.ts';
import { isSettled, machineWords } from './machine-words.ts';
import type { MachineObservation } from './observe-cluster.ts';

const at = '2026-01-01T00:00:00Z';
const booted = { phase: 'done', startedAt: at, updatedAt: at } as const;

function master(change: Partial<MachineObservation>): MachineObservation {
  return { name: 'master-0', role: 'master', firstBoot: booted, firstBootText: 'boots', agent: undefined, ...change };
}

function agent(
  ...duties: readonly (readonly [name: string, missing: readonly Missing[]])[]
): MachineObservation['agent'] {
  return {
    format: 1,
    node: 'master-0',
    role: 'master',
    pid: 1,
    at,
    isSettled: false,
    duties: duties.map(([name, missing]) => ({
      name,
      status: missing.length === 0 ? 'settled' : 'waiting',
      since: at,
      missing: [...missing],
    })),
  };
}

test('a first boot says whom it asks and what it met, in words that fit beside the name', () => {
  const url = 'https://api-int.a-long-name.firstlight.test:22623/config/master';
  const reason = 'lookup api-int.a-long-name.firstlight.test on 10.99.0.1:53: no such host';
  const asking = (met: string): MachineObservation =>
    master({ firstBoot: { ...booted, phase: 'fetch', waitingFor: { url, attempts: 3, since: at, reason: met } } });
  expect(machineWords(asking('lookup x on 127.0.0.1:53: read udp 127.0.0.1:4->127.0.0.1:53: connection refused'))).toBe(
    'asks api-int:22623 for its config: name lookup: connection refused',
  );
  expect(machineWords(asking(reason))).toBe('asks api-int:22623 for its config: no such host');
});

test('what only waits for another duty is not what the machine waits for', () => {
  const waiting = agent(
    ['credentials', [waitingFor('the duty', 'keys', { duty: 'keys' })]],
    [
      'cluster-view',
      [waitingFor('the API at https://api-int.demo.test:6443', 'to list the nodes', { detail: 'no answer in time' })],
    ],
  );
  expect(machineWords(master({ agent: waiting }))).toBe(
    'waits for the API at api-int:6443 to list the nodes: no answer in time',
  );
});

test('addresses of machines stay whole', () => {
  const waiting = agent(['etcd-member', [waitingFor('https://10.99.0.11:2379', 'to answer')]]);
  expect(machineWords(master({ agent: waiting }))).toBe('waits for https://10.99.0.11:2379 to answer');
});

test('a machine without wishes is settled', () => {
  const settled = master({ agent: agent(['etcd-member', []], ['control-plane', []]) });
  expect([machineWords(settled), isSettled(settled)]).toEqual(['etcd voter · settled', true]);
  expect(isSettled(master({}))).toBe(false);
});
