// An attempt and a Node with everything in its place, for tests of decisions.
import { type InPlaceAttempt, type InPlacePhase, readAttempt } from '../../contract/in-place.ts';
import type { InPlaceNode } from './in-place-node.ts';

export const sampleNode: InPlaceNode = {
  name: 'w1',
  uid: 'u1',
  version: '7',
  labels: { app: 'a' },
  annotations: {},
  taints: [],
  isMaster: false,
  isReady: true,
  notReady: '',
  isSilent: false,
  isCordoned: true,
  isScheduled: true,
  claim: 'w1.aaaaaaaa',
  bootId: 'boot-1',
  configState: 'Done',
  isToldToChange: false,
};

const spec = { node: 'w1', attemptId: 'aaaaaaaa-1', os: 'rhcos', notAfter: '2026-01-01T02:00:00.000Z', clusterId: 'c' };

export interface SampleStatus extends Partial<Omit<InPlaceAttempt['status'], 'report'>> {
  /** What the machine has reported, in its order. */
  readonly reported?: readonly InPlacePhase[];
}

/** Since midnight in its phase. */
export function sampleAttempt(
  { reported = [], ...status }: SampleStatus = {},
  more: Partial<InPlaceAttempt['spec']> = {},
): InPlaceAttempt {
  const at = '2026-01-01T00:00:00.000Z';
  const phases = reported.map((phase) => ({ phase, at, bootId: 'boot-1' }));
  const facts = { bootId: 'boot-1', at, os: 'rhcos', agentVersion: '1' };
  const events = reported.map((phase, n) => ({
    seq: n + 1,
    phase,
    step: 's',
    status: 'ok',
    code: 'Code',
    message: 'said',
    ...facts,
  }));
  const history = [{ phase: status.phase ?? 'Scheduled', at, message: '' }];
  const whole = { spec: { ...spec, ...more }, status: { history, ...status, report: { phases, events } } };
  const { node, attemptId } = whole.spec;
  const attempt = readAttempt({ metadata: { name: `${node}.${attemptId.slice(0, 8)}` }, ...whole });
  if (attempt === undefined) throw new Error('no attempt');
  return attempt;
}
