import { describe, expect, test } from 'vitest';
import { preflightIds } from '../../contract/in-place.ts';
import { configSpec } from '../../machine-config/machine-config.ts';
import { preflightChecks } from './checks.ts';
import type { PayloadAnswer, PreflightFacts, Reached } from './facts.ts';
import { judgeAll } from './run-preflight.ts';
import { sampleAttemptId, sampleIgnition, sampleRendered, sampleSecret } from './sample-attempt.ts';

const answer = (change: Partial<PayloadAnswer> = {}): Reached<PayloadAnswer> => ({
  status: 'answered',
  value: { code: 200, date: 'Thu, 01 Jan 2026 00:00:01 GMT', body: sampleIgnition(), ...change },
});
const payload = { url: 'https://api-int.demo.test:22623/config/worker', host: 'api-int.demo.test', port: '22623' };

const well: PreflightFacts = {
  node: 'worker-0',
  attemptId: sampleAttemptId,
  isAdoption: false,
  secret: sampleSecret,
  now: new Date('2026-01-01T00:00:00Z'),
  host: {
    system: { id: 'debian', version: '12', like: [], isFirstlightImage: true },
    isRoot: true,
    hasSystemd: true,
    tools: ['systemctl'],
    space: [{ path: '/', freeBytes: 20 * 2 ** 30 }],
    isFips: false,
    attempt: undefined,
    currentConfig: undefined,
  },
  nodeObject: { status: 'seen', isCordoned: true, configState: 'Done' },
  payload: { ...payload, answer: answer() },
  archive: undefined,
  registries: [{ image: 'registry.test/probe:1', registry: 'registry.test', answer: 'present' }],
  brokenRepositories: undefined,
  reports: [{ url: 'https://api-int.demo.test:22623', isOwn: true, answer: { status: 'answered', value: 202 } }],
  api: { url: 'https://api-int.demo.test:6443', problem: undefined },
};

const host = (change: Partial<PreflightFacts['host']>): PreflightFacts => ({
  ...well,
  host: { ...well.host, ...change },
});
const system = (id: string, version: string, like: readonly string[] = []) => ({
  ...well.host.system,
  id,
  version,
  like,
  isFirstlightImage: false,
});
const secret = (change: PreflightFacts['secret']): PreflightFacts => ({
  ...well,
  secret: { ...sampleSecret, ...change },
});
const served = (change: Partial<PayloadAnswer>): PreflightFacts => ({
  ...well,
  payload: { ...payload, answer: answer(change) },
});
const unreached = (stage: 'dns' | 'connect' | 'tls' | 'answer', detail: string) =>
  ({ status: 'unreached', stage, detail }) as const;
const foreign = (value: number) => ({
  url: 'https://reports.test',
  isOwn: false,
  answer: { status: 'answered', value } as const,
});
const attempt = (phase: 'Applying' | 'Failed') => ({
  attemptId: 'another',
  os: 'rhcos' as const,
  phase,
  since: '2026-01-01T00:00:00Z',
  bootId: 'boot',
  seq: 1,
  history: [],
});

const judged = (facts: PreflightFacts, id: string) => judgeAll(facts).find(({ result }) => result.id === id);

describe('the checks of preflight', () => {
  test('are all of the table, in its order, each with a reason', () => {
    expect(preflightChecks.map(({ id }) => id)).toEqual(preflightIds);
    expect(preflightChecks.filter(({ title, why }) => title === '' || why === '')).toEqual([]);
  });

  test('find nothing wrong with a node that is well', () => {
    const results = judgeAll(well).map(({ result }) => result);
    expect(results.filter(({ outcome }) => outcome !== 'ok').map(({ id }) => id)).toEqual(['P11', 'P12']);
    expect(results.every(({ id, message }) => message.startsWith(`IPB-${id} `))).toBe(true);
    expect(judged(well, 'P09')?.result.message).toBe(`IPB-P09 payload is ${sampleRendered}`);
  });

  const stays = true;
  const mayPass = false;
  test.each<[string, string, boolean, PreflightFacts]>([
    [
      'P01',
      'secret ipb-worker-0 lacks ignition-url, ignition-token',
      stays,
      secret({ 'ignition-url': '', 'ignition-token': '' }),
    ],
    [
      'P01',
      'secret ipb-worker-0 expired at 2025-12-31T23:00:00Z',
      stays,
      secret({ 'not-after': '2025-12-31T23:00:00Z' }),
    ],
    ['P01', 'secret ipb-worker-0 lacks os', stays, secret({ os: 'windows' })],
    [
      'P02',
      'host is ubuntu 24.04, secret is for rhcos',
      stays,
      host({ system: system('ubuntu', '24.04', ['debian']) }),
    ],
    [
      'P02',
      'host is rhcos 4.18, secret is for rhel',
      stays,
      { ...host({ system: system('rhcos', '4.18') }), secret: { os: 'rhel' } },
    ],
    [
      'P02',
      'host is debian 11, secret is for rhel',
      stays,
      { ...host({ system: system('debian', '11') }), secret: { os: 'rhel' } },
    ],
    [
      'P03',
      'node is schedulable',
      stays,
      { ...well, nodeObject: { status: 'seen', isCordoned: false, configState: 'Done' } },
    ],
    ['P03', 'attempt another in phase Applying', stays, host({ attempt: attempt('Applying') })],
    [
      'P03',
      'the configuration of the node is being changed',
      mayPass,
      { ...well, nodeObject: { status: 'seen', isCordoned: true, configState: 'Working' } },
    ],
    [
      'P04',
      'missing the rights of root, /run/systemd/system, systemctl',
      stays,
      host({ isRoot: false, hasSystemd: false, tools: [] }),
    ],
    ['P04', 'missing rpm-ostree', stays, host({ system: system('rhcos', '4.18') })],
    [
      'P04',
      'missing dnf',
      stays,
      { ...host({ system: system('rhel', '9.4'), tools: ['systemctl', 'bash', 'tar'] }), secret: { os: 'rhel' } },
    ],
    ['P05', 'clock skew 120s', stays, served({ date: 'Wed, 31 Dec 2025 23:58:00 GMT' })],
    ['P06', '/ has 9.0 GiB, needs 10.0 GiB', stays, host({ space: [{ path: '/', freeBytes: 9 * 2 ** 30 }] })],
    [
      'P06',
      '/boot has 100 MiB, needs 150 MiB',
      stays,
      host({ space: [...well.host.space, { path: '/boot', freeBytes: 100 * 2 ** 20 }] }),
    ],
    [
      'P07',
      'api-int.demo.test:22623 dns: no such name',
      mayPass,
      { ...well, payload: { ...payload, answer: unreached('dns', 'no such name') } },
    ],
    [
      'P07',
      'api-int.demo.test:22623 tls: self-signed',
      mayPass,
      { ...well, payload: { ...payload, answer: unreached('tls', 'self-signed') } },
    ],
    ['P08', `GET ${payload.url} -> 401`, stays, served({ code: 401 })],
    ['P08', `GET ${payload.url} -> 503`, mayPass, served({ code: 503 })],
    [
      'P08',
      `GET ${payload.url} -> the answer is larger than 67108864 bytes`,
      stays,
      { ...well, payload: { ...payload, answer: unreached('answer', 'the answer is larger than 67108864 bytes') } },
    ],
    ['P08', `GET ${payload.url} -> 200, but it is no JSON`, stays, served({ body: Buffer.from('<html>') })],
    [
      'P09',
      'payload not applicable: fips is true, the host has false',
      stays,
      served({ body: sampleIgnition({ fips: true }) }),
    ],
    [
      'P09',
      'payload not applicable: kernelArguments changed: kernel arguments of a running machine cannot be changed here',
      stays,
      served({ body: sampleIgnition({ kernelArguments: ['quiet'] }) }),
    ],
    [
      'P09',
      'payload not applicable: it has no /etc/mcs-machine-config-content.json and no /etc/kubernetes/kubeconfig and no /etc/machine-config-daemon/node-annotations.json',
      stays,
      served({ body: Buffer.from('{"ignition":{"version":"3.4.0"}}') }),
    ],
    [
      'P10',
      'registry registry.test -> 404 (registry.test/probe:1)',
      mayPass,
      {
        ...well,
        registries: [
          { image: 'registry.test/probe:1', registry: 'registry.test', answer: { status: 'answered', value: 404 } },
        ],
      },
    ],
    [
      'P10',
      'registry registry.test -> connect: refused (registry.test/probe:1)',
      mayPass,
      {
        ...well,
        registries: [
          { image: 'registry.test/probe:1', registry: 'registry.test', answer: unreached('connect', 'refused') },
        ],
      },
    ],
    [
      'P11',
      'repo baseos: no mirror answers',
      mayPass,
      { ...well, brokenRepositories: [{ id: 'baseos', detail: 'no mirror answers' }] },
    ],
    [
      'P12',
      'payload is for worker w2, and this is worker w1',
      stays,
      {
        ...secret({ os: 'rhel' }),
        archive: { status: 'refused', check: 'ids', reason: 'payload is for worker w2, and this is worker w1' },
      },
    ],
    [
      'P12',
      'payload is refused: the signature is not that of its manifest',
      stays,
      {
        ...secret({ os: 'rhel' }),
        archive: { status: 'refused', check: 'signature', reason: 'the signature is not that of its manifest' },
      },
    ],
    [
      'P13',
      'report API -> 401 (https://api-int.demo.test:22623)',
      mayPass,
      {
        ...well,
        reports: [{ url: 'https://api-int.demo.test:22623', isOwn: true, answer: { status: 'answered', value: 401 } }],
      },
    ],
    [
      'P13',
      'report API -> 500 (https://reports.test)',
      mayPass,
      { ...secret({ report: 'required' }), reports: [foreign(500)] },
    ],
    [
      'P14',
      'api https://api-int.demo.test:6443: HTTP 401',
      mayPass,
      { ...well, api: { url: 'https://api-int.demo.test:6443', problem: 'HTTP 401' } },
    ],
  ])('%s fails with: %s', (id, message, isPermanent, facts) => {
    const found = judged(facts, id);
    expect(found?.result).toEqual({ id, outcome: 'failed', message: `IPB-${id} ${message}` });
    expect(found?.judgement).toMatchObject({ isPermanent });
  });

  test('P13 is a warning where a foreign report URL is not required', () => {
    expect(judged({ ...well, reports: [foreign(500)] }, 'P13')?.result.outcome).toBe('warning');
    expect(judged({ ...well, reports: [foreign(409)] }, 'P13')?.result.outcome).toBe('ok');
  });

  test('P03 takes an attempt that has ended for none, and an unseen Node for a warning', () => {
    expect(judged(host({ attempt: attempt('Failed') }), 'P03')?.result.outcome).toBe('ok');
    const unseen = { ...well, nodeObject: { status: 'unseen', reason: 'there is no kubeconfig' } as const };
    expect(judged(unseen, 'P03')?.result.outcome).toBe('warning');
    expect(judged({ ...well, isAdoption: true, nodeObject: undefined }, 'P03')?.result.outcome).toBe('ok');
  });

  test('P06 is content with one of / and /var', () => {
    const space = [
      { path: '/', freeBytes: 2 ** 30 },
      { path: '/var', freeBytes: 50 * 2 ** 30 },
    ];
    expect(judged(host({ space }), 'P06')?.result.outcome).toBe('ok');
  });

  test('P09 compares with the config that the machine has: what both have is no change', () => {
    const currentConfig = { ...configSpec({ ignition: { version: '3.5.0' } }), kernelArguments: ['quiet'] };
    const body = sampleIgnition({ kernelArguments: ['quiet'] });
    const facts = { ...served({ body }), host: { ...well.host, currentConfig } };
    expect(judged(facts, 'P09')?.result.outcome).toBe('ok');
  });

  test.each([
    ['rhel', '9.4', []],
    ['rocky', '9.4', ['rhel', 'centos', 'fedora']],
    ['debian', '12', []],
    ['ubuntu', '24.04', ['debian']],
  ])('P02 lets the route by payload have %s %s', (id, version, like) => {
    expect(
      judged({ ...host({ system: system(id, version, like) }), secret: { os: 'rhel' } }, 'P02')?.result.outcome,
    ).toBe('ok');
  });
});
