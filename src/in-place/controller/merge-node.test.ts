import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { restoringTaint, scheduledValue, scheduleLabels } from '../../contract/in-place.ts';
import type { NodeTaint } from './in-place-node.ts';
import {
  isRestoredLabel,
  isRestoredTaint,
  lostLabels,
  lostTaints,
  type NodeMarks,
  withoutRestoringTaint,
  withRestoringTaint,
} from './merge-node.ts';

const label = fc.constantFrom(
  'app',
  'team',
  'topology.kubernetes.io/zone',
  'node-role.kubernetes.io/worker',
  'kubernetes.io/hostname',
  'node.kubernetes.io/instance-type',
  'kubelet.kubernetes.io/x',
  ...scheduleLabels,
);
const value = fc.constantFrom('', 'a', 'b', scheduledValue);
const taint: fc.Arbitrary<NodeTaint> = fc.record({
  key: fc.constantFrom('dedicated', 'gpu', 'node.kubernetes.io/unschedulable', restoringTaint.key),
  value: fc.constantFrom('x', 'y'),
  effect: fc.constantFrom('NoSchedule', 'NoExecute'),
});
const sameTaint = ({ key, effect }: NodeTaint): string => `${key} ${effect}`;
const marks: fc.Arbitrary<NodeMarks> = fc.record({
  labels: fc.dictionary(label, value),
  taints: fc.uniqueArray(taint, { selector: sameTaint }),
});

/** As the API has the node after the merge. */
function merged(snapshot: NodeMarks, now: NodeMarks): NodeMarks {
  return {
    labels: { ...now.labels, ...lostLabels(snapshot, now) },
    taints: [...now.taints, ...lostTaints(snapshot, now)],
  };
}

const holds = (law: (snapshot: NodeMarks, now: NodeMarks) => void) => () => fc.assert(fc.property(marks, marks, law));

describe('labels and taints after the merge', () => {
  test(
    'whatever somebody added or changed meanwhile is there as it was left',
    holds((snapshot, now) => {
      const after = merged(snapshot, now);
      expect(after.labels).toMatchObject(now.labels);
      expect(after.taints).toEqual(expect.arrayContaining([...now.taints]));
    }),
  );

  test(
    'whatever the snapshot had is there again, by name',
    holds((snapshot, now) => {
      const after = merged(snapshot, now);
      for (const name of Object.keys(snapshot.labels).filter(isRestoredLabel))
        expect(after.labels).toHaveProperty([name]);
      const present = after.taints.map(sameTaint);
      for (const each of snapshot.taints.filter(isRestoredTaint)) expect(present).toContain(sameTaint(each));
    }),
  );

  test(
    'nothing is there twice, and a second merge finds nothing to do',
    holds((snapshot, now) => {
      const after = merged(snapshot, now);
      expect(new Set(after.taints.map(sameTaint)).size).toBe(after.taints.length);
      expect(lostLabels(snapshot, after)).toEqual({});
      expect(lostTaints(snapshot, after)).toEqual([]);
    }),
  );

  test(
    'what the kubelet, the node controllers or the request for an attempt wrote is never written',
    holds((snapshot, now) => {
      expect(Object.keys(lostLabels(snapshot, now)).filter((name) => !isRestoredLabel(name))).toEqual([]);
      expect(lostTaints(snapshot, now).filter((each) => !isRestoredTaint(each))).toEqual([]);
    }),
  );

  test(
    'a node that lost nothing and gained nothing is not written at all',
    holds((snapshot) => {
      expect(lostLabels(snapshot, snapshot)).toEqual({});
      expect(lostTaints(snapshot, snapshot)).toEqual([]);
    }),
  );

  test(
    'the taint of the restoration comes and goes without a trace',
    holds((_, { taints }) => {
      const without = withoutRestoringTaint(taints);
      expect(withoutRestoringTaint(withRestoringTaint(taints))).toEqual(without);
      expect(withRestoringTaint(withRestoringTaint(taints))).toEqual(withRestoringTaint(taints));
    }),
  );
});
