import { expect, test } from 'vitest';
import { waitingFor } from '../contract/missing.ts';
import { working } from '../contract/stage-progress.ts';
import { beginCreateState, createFrame, nextCreateState } from './create-view.ts';
import type { ClusterObservation } from './observe-cluster.ts';

const observed: ClusterObservation = {
  bootstrap: {
    stage: 'masters',
    state: 'running',
    at: '2026-01-01T00:00:00Z',
    progress: working('etcd: add master-1'),
    isComplete: false,
  },
  machines: [
    { name: 'bootstrap', role: 'bootstrap', firstBoot: undefined, firstBootText: 'first boot done', agent: undefined },
    { name: 'master-0', role: 'master', firstBoot: undefined, firstBootText: 'boots', agent: undefined },
    { name: 'worker-0', role: 'worker', firstBoot: undefined, firstBootText: 'boots', agent: undefined },
  ],
};

test('a phase that is watched shows what each machine does, and the others their notes', () => {
  const begun = beginCreateState(['assets', 'masters', 'nodes'], 'firstlight', 0);
  const events = [
    { kind: 'stage-started', stage: 'assets', because: '' },
    { kind: 'stage-done', stage: 'assets', ms: 300, note: '41 files' },
    { kind: 'stage-started', stage: 'masters', because: '' },
    { kind: 'stage-progress', stage: 'masters', progress: working('everything at once') },
  ] as const;
  const state = events.reduce((told, event, index) => nextCreateState(told, event, index * 1_000), begun);
  expect(createFrame({ ...state, observed }, 5_000)).toEqual({
    title: 'firstlight',
    elapsedMs: 5_000,
    steps: [
      { name: 'assets', state: 'done', note: '41 files', ms: 300, details: [] },
      {
        name: 'masters',
        state: 'running',
        note: '',
        ms: 3_000,
        details: [
          { name: 'bootstrap', text: 'masters: etcd: add master-1', key: 'masters running etcd: add master-1' },
          { name: 'master-0', text: 'boots', key: 'boots' },
          { name: 'worker-0', text: 'boots', key: 'boots' },
        ],
      },
      { name: 'nodes', state: 'waiting', note: '', details: [] },
    ],
    members: [
      { name: 'bootstrap', state: 'voter' },
      { name: 'master-0', state: 'absent' },
    ],
  });
});

test('events of anything else leave the state as it is', () => {
  const begun = beginCreateState(['assets'], 'firstlight', 0);
  expect(nextCreateState(begun, { kind: 'stage-started', stage: 'root-ca', because: '' }, 1)).toBe(begun);
  expect(nextCreateState(begun, { kind: 'notice', level: 'warn', text: 'hm' }, 1)).toBe(begun);
});

test('a wait for several machines has a line for each', () => {
  const missing = [
    waitingFor('master-0', 'is not Ready', { detail: 'no CNI' }),
    waitingFor('worker-0', 'is not a node yet'),
  ];
  const events = [
    { kind: 'stage-started', stage: 'nodes', because: '' },
    { kind: 'stage-progress', stage: 'nodes', progress: { missing } },
  ] as const;
  const state = events.reduce(
    (told, event) => nextCreateState(told, event, 0),
    beginCreateState(['nodes'], 'firstlight', 0),
  );
  expect(createFrame(state, 0).steps).toEqual([
    {
      name: 'nodes',
      state: 'running',
      note: '',
      ms: 0,
      details: [
        { name: 'master-0', text: 'is not Ready: no CNI', key: 'master-0 is not Ready' },
        { name: 'worker-0', text: 'is not a node yet', key: 'worker-0 is not a node yet' },
      ],
    },
  ]);
});

test('a bootstrap that is held says where, and the commands that go on', () => {
  const bootstrap = { stage: 'etcd', state: 'paused', at: '2026-01-01T00:00:00Z', isComplete: false } as const;
  const begun = { ...beginCreateState(['control plane'], 'firstlight', 0), dirOption: ' --dir lab' };
  const state = nextCreateState(begun, { kind: 'stage-started', stage: 'control plane', because: '' }, 0);
  const view = createFrame({ ...state, observed: { ...observed, bootstrap } }, 0);
  expect(view.held).toEqual([
    'paused before 7 etcd:',
    'firstlight bootkube next --dir lab runs it,',
    'firstlight bootkube continue --dir lab all that follows',
  ]);
  expect(view.steps[0]?.details[0]).toMatchObject({ name: 'bootstrap', text: 'paused before 7 etcd' });
  expect(createFrame({ ...state, observed }, 0).held).toBeUndefined();
});
