import { expect, test } from 'vitest';
import { inPlaceAnnotations } from '../contract/in-place.ts';
import { nodeConfigAnnotations as annotations } from '../contract/machine-config-node.ts';
import { nodeRequests } from './node-requests.ts';
import { cordonedAnnotation, rolloutNode } from './rollout-node.ts';

function requests(given: Readonly<Record<string, string>>, unschedulable = false) {
  const metadata = { name: 'w1', annotations: given };
  return nodeRequests([rolloutNode({ apiVersion: 'v1', kind: 'Node', metadata, spec: { unschedulable } })]);
}

test('a drain begins with a cordon, also where somebody undid it', () => {
  expect(requests({ [annotations.desiredDrain]: 'drain-x' })).toEqual([{ kind: 'cordon', node: 'w1' }]);
  expect(requests({ [annotations.desiredDrain]: 'drain-x' }, true)).toEqual([
    { kind: 'drain', node: 'w1', request: 'drain-x' },
  ]);
});

test('an uncordon says whose cordon it is', () => {
  const asked = { [annotations.desiredDrain]: 'uncordon-x', [annotations.lastAppliedDrain]: 'drain-x' };
  const answer = { kind: 'uncordon', node: 'w1', request: 'uncordon-x' };
  expect(requests(asked, true)).toEqual([{ ...answer, isOurs: false }]);
  expect(requests({ ...asked, [cordonedAnnotation]: 'true' }, true)).toEqual([{ ...answer, isOurs: true }]);
});

test('a node that an in-place attempt has is answered by nobody here', () => {
  const asked = { [annotations.desiredDrain]: 'drain-x', [inPlaceAnnotations.claim]: 'w1.aaaaaaaa' };
  expect(requests(asked, true)).toEqual([]);
});

test('what is answered, and what was never asked, needs nothing', () => {
  expect(requests({})).toEqual([]);
  expect(requests({ [annotations.desiredDrain]: 'drain-x', [annotations.lastAppliedDrain]: 'drain-x' })).toEqual([]);
});
