import { expect, test } from 'vitest';
import { nodeConfigAnnotations as annotation } from '../contract/machine-config-node.ts';
import type { DaemonState, MachineChange } from './daemon-state.ts';
import { type NodeReportInput, nodeReport } from './node-report.ts';

const since = '2026-11-16T12:00:00.000Z';

const change: MachineChange = {
  from: 'a',
  to: 'b',
  direction: 'forward',
  reason: '',
  phase: 'draining',
  since,
  needsDrain: true,
  isForced: false,
  forward: { needsReboot: true, actions: [] },
  back: { needsReboot: true, actions: [] },
  actionsBegun: 0,
  bootId: 'boot-1',
  failedBefore: [],
};

function said(state: Omit<DaemonState, 'format'>, rest: Partial<NodeReportInput> = {}) {
  return nodeReport({
    current: 'a',
    desired: 'b',
    lastAppliedDrain: undefined,
    node: { isReady: true, bootId: 'boot-1' },
    driftPolicy: 'Report',
    state: { format: 1, ...state },
    drift: [],
    isForced: false,
    bootId: 'boot-1',
    pid: 7,
    now: new Date(since),
    annotations: {},
    ...rest,
  });
}

test('a node that has what is wanted is Done, and a second report says nothing', () => {
  const first = said({}, { desired: 'a' });
  expect(first).toEqual({ [annotation.current]: 'a', [annotation.state]: 'Done' });
  expect(said({}, { desired: 'a', annotations: first as Record<string, string> })).toEqual({});
});

test('a change that disrupts asks for the drain of its config', () => {
  expect(said({ change })).toMatchObject({
    [annotation.state]: 'Working',
    [annotation.desiredDrain]: 'drain-b',
    [annotation.progress]: JSON.stringify({ phase: 'draining', waitsFor: 'the controller to drain the node', since }),
  });
  expect(said({ change: { ...change, needsDrain: false } })).not.toHaveProperty([annotation.desiredDrain]);
});

test('a reboot is announced, and the announcement removed after it', () => {
  expect(said({ change: { ...change, phase: 'rebooting' } })).toMatchObject({
    [annotation.postConfigAction]: 'Rebooting',
  });
  const annotations = { [annotation.postConfigAction]: 'Rebooting' };
  expect(said({ change: { ...change, phase: 'verifying' } }, { annotations })).toMatchObject({
    [annotation.postConfigAction]: null,
  });
});

test('the end of a change gives back the node that was drained for it, and no other', () => {
  const done = { current: 'b', desired: 'b' };
  const drained = { ...done, annotations: { [annotation.desiredDrain]: 'drain-b' } };
  expect(said({}, drained)).toMatchObject({ [annotation.current]: 'b', [annotation.desiredDrain]: 'uncordon-b' });
  expect(said({}, done)).not.toHaveProperty([annotation.desiredDrain]);
});

test('a change that goes back is Degraded at once, with its reason', () => {
  const reason = 'b was undone: app.service is failed';
  expect(said({ change: { ...change, direction: 'back', phase: 'applying', reason } })).toMatchObject({
    [annotation.state]: 'Degraded',
    [annotation.reason]: reason,
    [annotation.progress]: JSON.stringify({ phase: 'undoing', since }),
  });
  const failure = { config: 'b', reason, state: 'Degraded', attempts: 1 } as const;
  expect(said({ failure })).toMatchObject({ [annotation.state]: 'Degraded', [annotation.reason]: reason });
  expect(said({ failure }, { desired: 'a' })).toMatchObject({ [annotation.state]: 'Done' });
});

test('drift is Degraded with path and difference, five at most', () => {
  const drift = ['1', '2', '3', '4', '5', '6', '7'].map((n) => `content mismatch for file /${n}`);
  expect(said({}, { drift: drift.slice(0, 1) })).toMatchObject({
    [annotation.state]: 'Degraded',
    [annotation.reason]: 'content mismatch for file /1',
  });
  expect(said({}, { drift })[annotation.reason]).toMatch(/\/5; and 2 more$/);
});

test('a drain of more than an hour is Degraded and names the pod in the way', () => {
  const blocked = [{ pod: 'shop/db-0', budget: 'shop/db', reason: 'the budget shop/db allows no disruption' }];
  const progress = JSON.stringify({ since, left: ['shop/db-0'], leftCount: 1, blocked });
  const late = { now: new Date('2026-11-16T13:00:01Z'), annotations: { [annotation.drainProgress]: progress } };
  expect(said({ change }, late)).toMatchObject({
    [annotation.state]: 'Degraded',
    [annotation.reason]:
      'the machine was not drained within 1 hour: pod shop/db-0: the budget shop/db allows no disruption',
  });
});

test('a change that ended while the API was away is Done when the node is up in this boot', () => {
  const annotations = { [annotation.state]: 'Working', [annotation.desiredDrain]: 'drain-b' };
  const ended = { current: 'b', desired: 'b', annotations };
  const stale = said({}, { ...ended, node: { isReady: true, bootId: 'boot-0' } });
  expect(stale).toMatchObject({ [annotation.current]: 'b', [annotation.progress]: expect.stringContaining('Ready') });
  expect(stale).not.toHaveProperty([annotation.desiredDrain]);
  expect(stale).not.toHaveProperty([annotation.state]);
  expect(said({}, ended)).toMatchObject({
    [annotation.state]: 'Done',
    [annotation.desiredDrain]: 'uncordon-b',
  });
});
