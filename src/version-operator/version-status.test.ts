import { describe, expect, test } from 'vitest';
import {
  type ClusterVersionSpec,
  clusterVersionReference,
  type VersionHistoryEntry,
} from '../contract/cluster-version.ts';
import { condensed } from './condense-failures.ts';
import type { FailureReason, TaskFailure } from './task-failure.ts';
import {
  type ClusterVersionObject,
  nextStatus,
  refusalOf,
  type SeenPass,
  shownPass,
  stateOf,
  type VersionFacts,
} from './version-status.ts';

const release = { version: '0.2.0', image: 'r@sha256:2' };
const { apiVersion, kind, name } = clusterVersionReference;
const made = '2026-01-01T00:00:00Z';

function version(spec: ClusterVersionSpec = {}, status?: ClusterVersionObject['status']): ClusterVersionObject {
  const metadata = { name, generation: 3, creationTimestamp: made };
  return { apiVersion, kind, metadata, spec, ...(status === undefined ? {} : { status }) };
}

function failure(reason: FailureReason, more: Partial<TaskFailure> = {}): TaskFailure {
  const base = { object: 'ConfigMap n/a', source: 'a.yaml#1', effect: 'fail', isFinal: false, blocks: true } as const;
  return { ...base, reason, message: 'no', ...more };
}

const ofOperator = (operator: string, more: Partial<TaskFailure> = {}): TaskFailure =>
  failure('ClusterOperatorNotAvailable', {
    operator,
    message: `Cluster operator ${operator} is not available`,
    ...more,
  });
const running = (done: number, failures: readonly TaskFailure[] = []): SeenPass => ({
  done,
  total: 10,
  failures,
  isThrough: false,
  isOver: false,
});
const over = (done: number, failures: readonly TaskFailure[] = []): SeenPass => ({
  ...running(done, failures),
  isThrough: true,
  isOver: true,
});

const facts: VersionFacts = {
  release,
  versionHash: 'h',
  state: 'Initializing',
  pass: undefined,
  waitingFor: [],
  refusal: undefined,
  capabilities: { enabled: ['DNS'], implicit: [] },
  now: new Date('2026-01-01T00:01:00Z'),
};

function shown(object: ClusterVersionObject, more: Partial<VersionFacts>, type: string): string {
  const condition = nextStatus(object, { ...facts, ...more }).conditions.find((each) => each.type === type);
  return `${condition?.status} ${condition?.reason}: ${condition?.message}`;
}

const completed: VersionHistoryEntry = {
  ...release,
  state: 'Completed',
  startedTime: made,
  completionTime: made,
  verified: false,
};
const installed = version({}, { history: [completed] });

describe('the conditions', () => {
  const rows = [
    ['before the first pass', version(), {}, 'Progressing', 'True Progressing: Working towards 0.2.0'],
    [
      'in a pass',
      version(),
      { pass: running(3) },
      'Progressing',
      'True Progressing: Working towards 0.2.0: 3 of 10 done (30% complete)',
    ],
    [
      'while operators come',
      version(),
      { pass: running(8, [ofOperator('dns', { effect: 'wait' })]) },
      'Progressing',
      'True Progressing: Working towards 0.2.0: 8 of 10 done (80% complete), waiting on dns',
    ],
    [
      'while operators come',
      version(),
      { pass: running(8, [ofOperator('dns', { effect: 'wait' })]) },
      'Failing',
      'False AsExpected: ',
    ],
    [
      'when one takes too long',
      version(),
      { pass: over(8, [ofOperator('dns', { effect: 'slow' })]) },
      'Failing',
      'Unknown SlowClusterOperator: Cluster operator dns is not available',
    ],
    [
      'after a failure',
      version(),
      { pass: over(8, [failure('UpdatePayloadResourceInvalid')]) },
      'Failing',
      'True UpdatePayloadResourceInvalid: Could not update ConfigMap n/a (a.yaml#1): no',
    ],
    [
      'after a failure',
      version(),
      { pass: over(8, [failure('UpdatePayloadResourceInvalid')]) },
      'Progressing',
      'True UpdatePayloadResourceInvalid: Unable to apply 0.2.0: Could not update ConfigMap n/a (a.yaml#1): no',
    ],
    [
      'while something is missing',
      version(),
      { waitingFor: ['Network cluster'] },
      'Progressing',
      'True WaitingForConfiguration: Working towards 0.2.0: waiting for Network cluster',
    ],
    ['when all is done', version(), { pass: over(10) }, 'Available', 'True AsExpected: Done applying 0.2.0'],
    ['when all is done', version(), { pass: over(10) }, 'Progressing', 'False AsExpected: Cluster version is 0.2.0'],
    [
      'before all is done',
      version(),
      { pass: over(9) },
      'Available',
      'False Initializing: 0.2.0 has not been applied completely yet',
    ],
    [
      'while reconciling',
      installed,
      { state: 'Reconciling', pass: running(2) },
      'Progressing',
      'False AsExpected: Cluster version is 0.2.0',
    ],
    [
      'when reconciling fails',
      installed,
      { state: 'Reconciling', pass: over(9, [ofOperator('dns')]) },
      'Progressing',
      'False ClusterOperatorNotAvailable: Error while reconciling 0.2.0: Cluster operator dns is not available',
    ],
    [
      'when reconciling fails',
      installed,
      { state: 'Reconciling', pass: over(9, [ofOperator('dns')]) },
      'Available',
      'True AsExpected: Done applying 0.2.0',
    ],
    [
      'with the own release',
      version(),
      {},
      'ReleaseAccepted',
      'True PayloadLoaded: Payload loaded version="0.2.0" image="r@sha256:2"',
    ],
    [
      'with another',
      version(),
      { refusal: { reason: 'RetrievePayload', message: 'x' } },
      'ReleaseAccepted',
      'False RetrievePayload: x',
    ],
    [
      'with an override',
      version({ overrides: [{ group: '', kind: 'Service', namespace: 'n', name: 's', unmanaged: true }] }),
      {},
      'Upgradeable',
      'False ClusterVersionOverridesSet: spec.overrides leaves Service n/s alone; remove the overrides before the next release',
    ],
    ['without one', version(), {}, 'Upgradeable', 'True AsExpected: '],
    [
      'with what cannot be turned off',
      version(),
      { capabilities: { enabled: ['DNS'], implicit: ['DNS'] } },
      'ImplicitlyEnabledCapabilities',
      'True CapabilitiesImplicitlyEnabled: The following capabilities could not be disabled: DNS',
    ],
    [
      'with a bad id',
      version({ clusterID: 'x' }),
      {},
      'Invalid',
      'True InvalidClusterVersion: spec.clusterID x is not a UUID',
    ],
    ['with a good spec', version(), {}, 'Invalid', 'undefined undefined: undefined'],
    [
      'when all was tried',
      version(),
      { pass: { ...running(1), isThrough: true } },
      'FirstPassDone',
      'True AsExpected: All manifests of 0.2.0 were tried once',
    ],
    [
      'before that',
      version(),
      { pass: running(1) },
      'FirstPassDone',
      'False Initializing: Not all manifests of 0.2.0 were tried yet',
    ],
  ] as const;

  test.each(rows)('%s', (_when, object, more, type, text) => {
    expect(shown(object, more, type)).toBe(text);
  });

  test('keep their time while they stay as they are', () => {
    const first = nextStatus(version(), { ...facts, pass: running(1) });
    const later = new Date('2026-01-01T00:05:00Z');
    const second = nextStatus(version({}, first), { ...facts, pass: running(2), now: later });
    expect(new Set(second.conditions.map(({ lastTransitionTime }) => lastTransitionTime))).toEqual(
      new Set([facts.now.toISOString()]),
    );
    const third = nextStatus(version({}, second), { ...facts, pass: over(10), now: later });
    const moved = third.conditions.filter(({ lastTransitionTime }) => lastTransitionTime === later.toISOString());
    expect(moved.map(({ type }) => type)).toEqual(['Available', 'Progressing', 'FirstPassDone']);
  });

  test('never take back that the first pass was done', () => {
    const done = nextStatus(version(), { ...facts, pass: over(10) });
    expect(shown(version({}, done), { pass: running(0) }, 'FirstPassDone')).toMatch(/^True/);
  });
});

describe('the history', () => {
  test('begins with the ClusterVersion, and is completed once', () => {
    const first = nextStatus(version(), { ...facts, pass: running(1) });
    expect(first.history).toEqual([
      { ...release, state: 'Partial', startedTime: made, completionTime: null, verified: false },
    ]);
    const done = nextStatus(version({}, first), { ...facts, pass: over(10) });
    expect(done.history).toMatchObject([{ state: 'Completed', completionTime: facts.now.toISOString() }]);
    const later = nextStatus(version({}, done), { ...facts, pass: over(10), now: new Date() });
    expect(later.history).toEqual(done.history);
  });

  test('has another release before the old one, which is closed', () => {
    const old: VersionHistoryEntry = {
      ...completed,
      version: '0.1.0',
      image: 'old',
      state: 'Partial',
      completionTime: null,
    };
    const { history } = nextStatus(version({}, { history: [old] }), facts);
    expect(history.map((entry) => [entry.version, entry.state, entry.completionTime])).toEqual([
      ['0.2.0', 'Partial', null],
      ['0.1.0', 'Partial', facts.now.toISOString()],
    ]);
  });

  const old = { ...completed, version: '0.1.0', image: 'old' };
  test.each([
    ['Initializing', []],
    ['Initializing', [{ ...completed, state: 'Partial' }]],
    ['Reconciling', [completed]],
    ['Updating', [old]],
    ['Updating', [{ ...completed, state: 'Partial' }, old]],
    ['Reconciling', [completed, old]],
  ] as const)('says where a new process goes on: %s', (state, history) => {
    expect(stateOf(version({}, { history }), release)).toBe(state);
  });
});

describe('what a running pass shows', () => {
  const trouble = [failure('UpdatePayloadFailed')];
  test.each([
    ['itself, when it is the first', undefined, running(3), running(3)],
    ['the last one, until it is over, when that was complete', over(10), running(3), over(10)],
    ['no lower fraction than the last one, and its failures', over(8, trouble), running(3), running(8, trouble)],
    ['its own fraction when it is further', over(8, trouble), running(9), running(9, trouble)],
    ['itself when it is over', over(8, trouble), over(10), over(10)],
    ['itself when there is more or less to do', { ...over(8), total: 12 }, running(3), running(3)],
  ] as const)('%s', (_what, last, next, expected) => {
    expect(shownPass(last, next)).toEqual(expected);
  });
});

describe('failures', () => {
  test.each([
    ['none', [], undefined],
    ['one', [ofOperator('dns')], 'ClusterOperatorNotAvailable: Cluster operator dns is not available'],
    [
      'several operators',
      [ofOperator('dns'), ofOperator('api')],
      'ClusterOperatorNotAvailable: Cluster operators api, dns are not available',
    ],
    [
      'a manifest that cannot be read',
      [failure('UpdatePayloadIntegrity', { object: 'a.yaml', source: 'a.yaml', message: 'a.yaml:1:1  not YAML' })],
      'UpdatePayloadIntegrity: Could not read a.yaml:1:1  not YAML',
    ],
    [
      'several of one reason',
      [failure('UpdatePayloadFailed'), failure('UpdatePayloadFailed', { object: 'ConfigMap n/b' })],
      'UpdatePayloadFailed: Multiple errors are preventing progress:\n* Could not update ConfigMap n/a (a.yaml#1): no\n* Could not update ConfigMap n/b (a.yaml#1): no',
    ],
    [
      'several reasons',
      [failure('UpdatePayloadFailed'), ofOperator('dns')],
      'MultipleErrors: Multiple errors are preventing progress:\n* Cluster operator dns is not available\n* Could not update ConfigMap n/a (a.yaml#1): no',
    ],
  ] as const)('%s', (_what, failures, text) => {
    const found = condensed(failures);
    expect(found && `${found.reason}: ${found.message}`).toBe(text);
  });
});

test.each([
  [{}, false],
  [{ version: '0.2.0' }, false],
  [{ image: 'r@sha256:2', version: '' }, false],
  [{ version: '0.3.0' }, true],
  [{ version: '0.2.0', image: 'other' }, true],
] as const)('a spec that asks for %j is refused: %s', (desiredUpdate, isRefused) => {
  expect(refusalOf({ desiredUpdate }, release) !== undefined).toBe(isRefused);
});
