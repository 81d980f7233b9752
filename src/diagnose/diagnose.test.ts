import { describe, expect, test } from 'vitest';
import { clusterOperatorKind, clusterVersionReference } from '../contract/cluster-version.ts';
import { readAttempt } from '../contract/in-place.ts';
import { nodeConfigAnnotations } from '../contract/machine-config-node.ts';
import { machineConfigPoolKind } from '../contract/machine-config-pool.ts';
import { waitingFor } from '../contract/missing.ts';
import { attemptView } from '../in-place/attempt-view.ts';
import type { KubernetesObject } from '../kubernetes/object.ts';
import { viewOperators, viewRelease } from '../operators/operator-view.ts';
import { poolView } from '../pool-rollout/pool-view.ts';
import { checks } from './checks.ts';
import { clockAhead } from './collect-facts.ts';
import { diagnose } from './diagnose.ts';
import { diagnosisLines } from './diagnosis-lines.ts';
import type { DiagnosedAttempt, DiagnosedMachine, DiagnosisFacts } from './facts.ts';
import type { InsideFacts } from './inside/inside-facts.ts';

const noOperators = { operators: [], release: undefined };

const at = '2026-01-01T00:00:00Z';
const gib = 2 ** 30;
const name = 'api-int.demo.firstlight.test';
const address = '10.99.0.1';
const etcdImage = `release.firstlight.internal/etcd@sha256:${'ab'.repeat(32)}`;

const well: InsideFacts = {
  now: at,
  nameServers: [address],
  names: [{ name, addresses: [address] }],
  ports: [{ port: 22_623 }, { port: 6443 }],
  serves: [22_623, 6443],
  disks: [
    { path: '/var/lib/etcd', freeBytes: 20 * gib },
    { path: '/var/lib/kubelet', freeBytes: 20 * gib },
  ],
  images: { needed: [etcdImage], missing: [] },
  units: [{ name: 'kubelet.service', active: 'active', sub: 'running', restarts: 0, lastWords: '' }],
};

function machine(change: Partial<DiagnosedMachine> & Pick<DiagnosedMachine, 'name' | 'role'>): DiagnosedMachine {
  return {
    address: '10.99.0.11',
    isRunning: true,
    firstBoot: { phase: 'done', startedAt: at, updatedAt: at },
    agent: undefined,
    inside: well,
    clockAheadMs: 0,
    ...change,
  };
}

const healthy = [
  machine({ name: 'bootstrap', role: 'bootstrap' }),
  machine({ name: 'master-0', role: 'master' }),
  machine({ name: 'worker-0', role: 'worker' }),
];

function cluster(machines: readonly DiagnosedMachine[], change: Partial<DiagnosisFacts> = {}): DiagnosisFacts {
  const missing = [waitingFor('master-1', '', { detail: 'waits for something' })];
  return { apiInternal: { name, address }, isBalancerRunning: true, machines, missing, api: undefined, ...change };
}

const firstBoot = {
  phase: 'fetch',
  startedAt: at,
  updatedAt: at,
  waitingFor: { url: `https://${name}:22623/config/master`, attempts: 9, since: at, reason: 'whatever' },
} as const;

const sick = (inside: Partial<InsideFacts>, change: Partial<DiagnosedMachine> = {}): DiagnosedMachine =>
  machine({ name: 'master-1', role: 'master', inside: { ...well, ...inside }, ...change });

const url = `https://${name}:22623/config/master`;
const noNames: Partial<InsideFacts> = {
  names: [{ name, addresses: [], failure: 'dns', reason: 'the name does not resolve' }],
};
const closed: Partial<InsideFacts> = {
  ports: [{ port: 22_623, failure: 'timeout', reason: 'no connection within 3000 ms' }, { port: 6443 }],
};

describe('one fault on one master is the first reason, and names the machine', () => {
  test.each<readonly [string, DiagnosedMachine, string, RegExp]>([
    ['a name', sick(noNames, { firstBoot }), 'name-unresolved', /does not resolve on master-1$/],
    [
      'a wrong address',
      sick({ names: [{ name, addresses: ['10.1.1.1'] }] }),
      'name-unresolved',
      /resolves to 10\.1\.1\.1 on master-1, and the load balancer is 10\.99\.0\.1$/,
    ],
    ['a port', sick(closed, { firstBoot }), 'port-closed', /^port 22623 .* master-1/],
    ['a token', sick({ pointer: { url, status: 511 } }, { firstBoot }), 'config-refused', /pool token of master-1/],
    [
      'an authority',
      sick({ pointer: { url, failure: 'tls', reason: 'unknown authority' } }, { firstBoot }),
      'config-refused',
      /master-1 does not trust the config server/,
    ],
    [
      'a disk too small for etcd',
      sick({ disks: [{ path: '/var/lib/etcd', freeBytes: 12 * 2 ** 20 }] }),
      'disk-full',
      /disk of master-1 is full: 12 MiB are free below \/var\/lib\/etcd, etcd needs 1024 MiB/,
    ],
    [
      'a quota',
      sick({ disks: [{ path: '/var/log', freeBytes: 5 * gib, problem: 'cannot write: EDQUOT: disk quota exceeded' }] }),
      'disk-full',
      /disk of master-1 is full/,
    ],
    [
      'an image',
      sick({ images: { needed: [etcdImage], missing: [etcdImage] } }),
      'image-missing',
      /etcd@sha256:abababababab… is missing on master-1/,
    ],
    ['a clock', sick({}, { clockAheadMs: 600_400 }), 'clock-wrong', /clock of master-1 is 10 min ahead/],
    ['a clock behind', sick({}, { clockAheadMs: -4_000 }), 'clock-wrong', /clock of master-1 is 4 s behind/],
    ['no power', sick({}, { isRunning: false, inside: undefined }), 'machine-stopped', /master-1 does not run/],
    [
      'a kubelet that does not start',
      sick({
        units: [
          { name: 'kubelet.service', active: 'activating', sub: 'auto-restart', restarts: 40, lastWords: 'oops' },
        ],
      }),
      'unit-fails',
      /kubelet\.service does not run on master-1: oops/,
    ],
  ])('%s', (_what, faulty, check, sentence) => {
    const [first] = diagnose(cluster([...healthy, faulty]));
    expect(first).toMatchObject({ check, machine: 'master-1', sentence: expect.stringMatching(sentence) });
  });
});

test('a cluster without a fault has no reasons', () => {
  expect(diagnose(cluster(healthy))).toEqual([]);
});

test('what was measured comes before what somebody says, whoever stands higher in the table', () => {
  const api = {
    conditions: [{ node: 'master-1', type: 'Ready', status: 'False', message: 'the network is not ready' }],
    waiting: [],
    pools: [],
    attempts: [],
    ...noOperators,
  };
  const faulty = sick({ images: { needed: [etcdImage], missing: [etcdImage] } }, { firstBoot });
  expect(diagnose(cluster([...healthy, faulty], { api })).map(({ check }) => check)).toEqual([
    'image-missing',
    'node-unready',
    'somebody-waits',
  ]);
});

test('a bootstrap that a person holds is named before all that is missing because of it', () => {
  const inside = { ...well, ports: [], serves: [] };
  const facts = cluster([machine({ name: 'bootstrap', role: 'bootstrap', inside }), sick(closed)], {
    heldBefore: 'etcd',
  });
  const [first] = diagnose(facts);
  expect(first).toMatchObject({
    check: 'bootstrap-held',
    sentence: 'the bootstrap is held before 7 etcd, and goes on when a person says so',
  });
  expect(
    diagnosisLines({ seen: [], reasons: first === undefined ? [] : [first], dirOption: ' --dir lab', closing: [] }),
  ).toContain('next   firstlight bootkube next --dir lab');
});

test('a machine that somebody waits for comes before one that nobody misses', () => {
  const [first, second] = [
    sick({}, { name: 'worker-10', role: 'worker', clockAheadMs: 5_000 }),
    sick({}, { name: 'worker-1', role: 'worker', clockAheadMs: 5_000 }),
  ];
  const facts = cluster([...healthy, first, second], { missing: [waitingFor('worker-1', 'is not a node yet')] });
  expect(diagnose(facts).map((reason) => reason.machine)).toEqual(['worker-1', 'worker-10']);
});

test('nobody serves: said only when every machine that could was looked into', () => {
  const idle = healthy.map((one) => ({ ...one, inside: { ...well, serves: [] } }));
  expect(diagnose(cluster(idle))[0]).toMatchObject({
    check: 'nobody-serves',
    sentence: 'no API server runs: nobody answers on port 6443 of bootstrap, master-0',
  });
  const blind = idle.map((one) => (one.name === 'master-0' ? { ...one, inside: undefined } : one));
  expect(diagnose(cluster(blind))).toEqual([]);
});

describe('a roll-out that is stuck is explained by what it waits for:', () => {
  const annotation = (name: keyof typeof nodeConfigAnnotations, value: string | object) =>
    [nodeConfigAnnotations[name], typeof value === 'string' ? value : JSON.stringify(value)] as const;
  const node = (...said: readonly (readonly [string, string])[]): KubernetesObject => ({
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: 'worker-0', annotations: Object.fromEntries(said) },
  });
  const stuck = (pool: object, seen: KubernetesObject) => {
    const object = { ...machineConfigPoolKind, metadata: { name: 'worker' }, ...pool };
    const api = { conditions: [], waiting: [], pools: [poolView(object, [seen])], attempts: [], ...noOperators };
    return diagnose(cluster(healthy, { api }))[0];
  };
  const target = { spec: { configuration: { name: 'new' } } };
  const told = [annotation('current', 'old'), annotation('desired', 'new')];

  test('a budget that lets no pod go', () => {
    const blocked = [{ pod: 'shop/web-1', budget: 'shop/web', reason: 'needs 2 healthy pods and has 2' }];
    const drain = annotation('drainProgress', { since: at, left: ['shop/web-1'], leftCount: 1, blocked });
    const progress = annotation('progress', { phase: 'draining', since: at });
    expect(stuck(target, node(...told, annotation('state', 'Working'), progress, drain))).toMatchObject({
      check: 'drain-blocked',
      machine: 'worker-0',
      sentence: 'worker-0 cannot be drained: the budget shop/web forbids to evict pod shop/web-1',
      next: { verb: 'kubectl', rest: 'describe pdb -n shop web' },
    });
  });

  test.each([
    ['content mismatch for file /etc/motd', { verb: 'machine exec', rest: 'worker-0 -- ls -l /etc/motd' }],
    ['bad.service does not start', { verb: 'machine logs', rest: 'worker-0 --unit bad.service' }],
    ['no space left on device', { verb: 'machine logs', rest: 'worker-0 --unit firstlight-agent' }],
  ])('a node that says: %s', (reason, next) => {
    const degraded = node(...told, annotation('state', 'Degraded'), annotation('reason', reason));
    expect(stuck(target, degraded)).toMatchObject({
      check: 'config-degraded',
      sentence: `worker-0 is degraded: ${reason}`,
      next,
    });
  });

  test('MachineConfigs that cannot be rendered', () => {
    const conditions = [{ type: 'RenderDegraded', status: 'True', message: '99-x: kernelArguments' }];
    expect(stuck({ ...target, status: { conditions } }, node(...told))).toMatchObject({
      check: 'pool-unrendered',
      sentence: 'the MachineConfigs of pool worker cannot be rendered: 99-x: kernelArguments',
    });
  });

  test('a pool that is paused', () => {
    const behind = node(annotation('current', 'old'), annotation('desired', 'old'), annotation('state', 'Done'));
    expect(stuck({ spec: { ...target.spec, paused: true } }, behind)).toMatchObject({
      check: 'roll-out-waits',
      certainty: 'waited',
      next: { verb: 'machine-config resume', rest: 'worker' },
    });
  });
});

test('an operator that is degraded is named with its own words, and so is a release that cannot be applied', () => {
  const dns = viewOperators([
    {
      ...clusterOperatorKind,
      metadata: { name: 'dns' },
      status: {
        conditions: [
          { type: 'Available', status: 'True', message: 'one of two pods serves' },
          { type: 'Degraded', status: 'True', message: 'pod coredns-1 on worker-0: container coredns waits' },
        ],
      },
    },
  ]);
  const release = viewRelease({
    ...clusterVersionReference,
    metadata: { name: 'version' },
    status: { conditions: [{ type: 'Failing', status: 'True', message: 'Deployment kube-system/x is not valid' }] },
  });
  const api = { conditions: [], waiting: [], pools: [], attempts: [], operators: dns, release };
  expect(diagnose(cluster(healthy, { api })).map(({ check, sentence }) => [check, sentence])).toEqual([
    ['operator-unwell', 'operator dns is degraded: pod coredns-1 on worker-0: container coredns waits'],
    ['operator-unwell', 'the release is not applied: Deployment kube-system/x is not valid'],
  ]);
});

describe('an attempt in place', () => {
  const attempt = (status: object, more: Partial<DiagnosedAttempt> = {}): DiagnosedAttempt => {
    const spec = { node: 'worker-0', attemptId: 'a1', os: 'rhcos', notAfter: at, clusterId: 'c' };
    const read = readAttempt({ metadata: { name: 'worker-0.a1' }, spec, status });
    if (read === undefined) throw new Error('no attempt');
    return { attempt: attemptView(read), stillMs: undefined, isCordoned: true, ...more };
  };
  const first = (...attempts: readonly DiagnosedAttempt[]) =>
    diagnose(cluster(healthy, { api: { conditions: [], waiting: [], pools: [], attempts, ...noOperators } }))[0];

  test('that moves, or ended well, is no finding', () => {
    expect(first(attempt({ phase: 'Applying' }), attempt({ phase: 'Succeeded' }))).toBeUndefined();
  });

  test.each([
    ['Preflight', 'kubectl', 'get pods -n ipb-system -o wide --field-selector spec.nodeName=worker-0'],
    ['Applying', 'machine logs', 'worker-0 --unit ipb-run@a1.service'],
    ['Joining', 'ipb status', 'worker-0'],
  ])('that does not move in %s leads to whoever should act', (phase, verb, rest) => {
    expect(first(attempt({ phase, waitsFor: 'x' }, { stillMs: 90_000 }))).toMatchObject({
      check: 'attempt-stuck',
      machine: 'worker-0',
      sentence: `the attempt in place on worker-0 does not move: it is in phase ${phase} and waits for x`,
      next: { verb, rest },
    });
  });

  test('that failed is found as long as its node is cordoned', () => {
    const failure = { phase: 'Joining', code: 'JoinTimeout', message: 'the kubelet never reported' };
    const failed = { phase: 'Failed', failure };
    expect(first(attempt(failed))).toMatchObject({
      sentence:
        'worker-0 stays cordoned: its attempt in place ended with Failed: JoinTimeout in phase Joining; the kubelet never reported',
      next: { verb: 'ipb history', rest: 'worker-0' },
    });
    expect(first(attempt(failed, { isCordoned: false }))).toBeUndefined();
  });
});

test.each([
  [{ saidMs: 1_500, sentMs: 1_000, receivedMs: 2_000 }, 0],
  [{ saidMs: 602_000, sentMs: 1_000, receivedMs: 2_000 }, 600_000],
  [{ saidMs: 400, sentMs: 1_000, receivedMs: 2_000 }, -600],
])('a clock is wrong only as far as it is proven: %o', ({ saidMs, ...asked }, ahead) => {
  expect(clockAhead(saidMs, asked)).toBe(ahead);
});

test('every check says why it exists and what it looks at, and none has another’s name', () => {
  for (const { why, looksAt } of checks) expect([why, looksAt].every((text) => text.length > 20)).toBe(true);
  expect(new Set(checks.map((check) => check.name)).size).toBe(checks.length);
});

test('in words: seen, likely, next; no more of each than a screen holds', () => {
  const faulty = sick({}, { clockAheadMs: 600_400, firstBoot });
  const reasons = diagnose(cluster([...healthy, faulty]));
  const seen = ['master-1: waits', 'a', 'b', 'c', 'd', 'e'];
  expect(diagnosisLines({ seen, reasons, dirOption: ' --dir lab', closing: ['firstlight status'] })).toEqual([
    'seen   master-1: waits',
    '       a',
    '       b',
    '       c',
    '       and 2 more',
    'likely 1. the clock of master-1 is 10 min ahead',
    '          it differs from the clock of this host by at least 600.4 s',
    'next   firstlight machine exec --dir lab master-1 -- date --utc',
    '       firstlight status',
  ]);
});
