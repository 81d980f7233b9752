import { hash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { sampleApi, sampleIds } from '../../../test/attempt-api.ts';
import type { AttemptSettings, ProgressEvent } from '../../contract/in-place.ts';
import { hostErrors } from '../../host/errors.ts';
import { type FakeDisk, fakeDisk } from '../../host/fake/fake-files.ts';
import { fakeHost } from '../../host/fake/fake-host.ts';
import type { HttpAnswer, HttpRequest } from '../../host/network.ts';
import { type ProgressRoutes, progressRoutes } from './progress-routes.ts';
import { type AttemptReporter, openReporter } from './reporter.ts';

const token = `flr_${'t'.repeat(43)}`;
const foreignUrl = 'https://reports.test/base/';
const signal = new AbortController().signal;

type Answering = (request: HttpRequest) => Promise<HttpAnswer> | HttpAnswer;

const refused = (target: string): never => {
  throw hostErrors.NETWORK({ target, failure: 'refused', reason: 'connection refused' });
};

/** A cluster with one attempt, the servers of its masters, and hosts that report to them. */
function setUp({ masters = 1, lagMs = 0 } = {}) {
  const api = sampleApi();
  api.addAttempt(sampleIds);
  api.setStatus({ command: 'none', report: { tokenDigest: hash('sha256', token, 'hex') } });
  const servers: ProgressRoutes[] = [];
  let turn = 0;
  const answer: Answering = async ({ url, method = 'GET', headers = {}, body = '' }) => {
    const server = servers[(turn += 1) % servers.length];
    const peer = { address: '10.0.0.21', from: 'connection' } as const;
    const target = new URL(url).pathname;
    const handled = await server!.handle({ method, target, headers, peer, body: Buffer.from(body) });
    return handled.answer;
  };
  /** What is between host and cluster, and between host and the foreign server. */
  const way: { cluster: Answering; foreign: Answering } = { cluster: answer, foreign: ({ url }) => refused(url) };
  const newHost = (disk: FakeDisk = fakeDisk()) =>
    fakeHost({
      disk,
      network: {
        request: async (request) => (request.url.startsWith(foreignUrl) ? way.foreign : way.cluster)(request),
      },
    });
  const server = fakeHost();
  for (let n = 0; n < masters; n += 1) {
    const client = api.connect(lagMs === 0 ? undefined : () => server.clock.sleep(lagMs));
    const parts = { client, lookUps: { take: () => true }, onTrouble: () => {}, signal };
    servers.push(
      progressRoutes(server, { ...parts, makePayload: async () => ({ refusal: 'payload-not-ready', reason: '' }) }),
    );
  }
  const recorded = (): readonly ProgressEvent[] =>
    (api.status().report as unknown as { events: ProgressEvent[] }).events ?? [];
  return { api, way, answer, newHost, recorded };
}

function settings(secret: AttemptSettings['grant']['secret'] = {}): AttemptSettings {
  return {
    attemptId: sampleIds.attemptId,
    node: sampleIds.node,
    isAdoption: false,
    facts: { clusterId: sampleIds.cluster, serviceUrl: 'https://api-int.test:22623', serviceCa: 'CA' },
    grant: { attemptId: sampleIds.attemptId, secret: { os: 'rhcos', ...secret }, token, ackSeq: 0 },
    lastSeq: 0,
    programDigests: {},
  };
}

function open(host: ReturnType<typeof fakeHost>, given = settings()): Promise<AttemptReporter> {
  return openReporter(host, { settings: given, spool: '/spool', agentVersion: 'test' });
}

const step = (name: string, phase: ProgressEvent['phase'] = 'Preflight') =>
  ({ phase, step: name, status: 'ok', message: name }) as const;

describe('reports to the cluster', () => {
  test('are recorded in their order, each phase with its first time, each check with its result', async () => {
    const { api, newHost, recorded } = setUp();
    const host = newHost();
    await using reporter = await open(host);
    await reporter.report(step('P01'));
    await reporter.report({ ...step('P02'), status: 'failed', message: 'IPB-P02 host is debian 13' });
    host.clock.advance(1_000);
    expect(await reporter.report(step('ready', 'Ready'))).toBe(3);
    expect(await reporter.flush(5_000)).toBe(true);
    expect(recorded().map(({ seq, step }) => [seq, step])).toEqual([
      [1, 'P01'],
      [2, 'P02'],
      [3, 'ready'],
    ]);
    expect(api.status().report).toMatchObject({
      ackSeq: 3,
      phases: [{ phase: 'Preflight' }, { phase: 'Ready' }],
      preflight: [
        { id: 'P01', outcome: 'ok' },
        { id: 'P02', outcome: 'failed', message: 'IPB-P02 host is debian 13' },
      ],
    });
  });

  test('that come together go together: each request costs the API of the cluster a write', async () => {
    const { api, way, answer, newHost, recorded } = setUp();
    const host = newHost();
    way.cluster = async (request) => {
      await host.clock.sleep(20);
      return answer(request);
    };
    await using reporter = await open(host);
    const before = api.calls.length;
    for (let n = 1; n <= 15; n += 1) await reporter.report(step(`s${n}`));
    expect(await reporter.flush(5_000)).toBe(true);
    expect(recorded().map(({ step }) => step)).toEqual(Array.from({ length: 15 }, (_, n) => `s${n + 1}`));
    expect(api.calls.slice(before).filter((call) => call.startsWith('patch'))).toHaveLength(3);
  });

  test('wait on the disk while no server answers, and are sent by the next process in their order', async () => {
    const { way, answer, newHost, recorded } = setUp();
    way.cluster = ({ url }) => refused(url);
    const host = newHost();
    const first = await open(host);
    for (const name of ['a', 'b', 'c']) await first.report(step(name));
    expect(await first.flush(60_000)).toBe(false);
    expect(first.sinks()).toMatchObject([
      { name: 'cluster', isDone: false, trouble: expect.stringContaining('refused') },
    ]);
    await first[Symbol.asyncDispose]();
    way.cluster = answer;
    await using second = await open(newHost(host.disk));
    expect(await second.report(step('d'))).toBe(4);
    expect(await second.flush(60_000)).toBe(true);
    expect(recorded().map(({ step }) => step)).toEqual(['a', 'b', 'c', 'd']);
  });

  test('whose answers were lost are recorded once, whichever master is asked again', async () => {
    const { way, answer, newHost, recorded } = setUp({ masters: 2, lagMs: 400 });
    let count = 0;
    way.cluster = async (request) => {
      const given = await answer(request);
      count += 1;
      return count % 2 === 1 ? refused(request.url) : given;
    };
    await using reporter = await open(newHost());
    for (let n = 1; n <= 60; n += 1) await reporter.report(step(`s${n}`));
    expect(await reporter.flush(600_000)).toBe(true);
    expect(recorded().map(({ seq, step }) => `${step}=${seq}`)).toEqual(
      Array.from({ length: 40 }, (_, n) => `s${n + 21}=${n + 21}`),
    );
  });

  test('of two programs under one token are all recorded: a number that is taken is left', async () => {
    const { newHost, recorded } = setUp();
    await using pod = await open(newHost());
    await using unit = await open(newHost());
    await pod.report(step('of the pod'));
    await pod.flush(5_000);
    await unit.report(step('of the unit', 'KubeletStopped'));
    expect(await unit.flush(5_000)).toBe(true);
    expect(recorded().map(({ seq, step }) => [seq, step])).toEqual([
      [1, 'of the pod'],
      [2, 'of the unit'],
    ]);
    expect(await unit.command()).toBe('none');
  });

  test('go out although the disk is full', async () => {
    const { newHost, recorded } = setUp();
    const host = newHost();
    host.disk.isFull = true;
    await using reporter = await open(host);
    await reporter.report(step('no space'));
    expect(await reporter.flush(5_000)).toBe(true);
    expect(recorded()).toMatchObject([{ step: 'no space' }]);
  });

  test('end when another attempt has taken the place of this one, and the advice is to end too', async () => {
    const { api, newHost, recorded } = setUp();
    const host = newHost();
    await using reporter = await open(host);
    await reporter.report(step('a'));
    await reporter.flush(5_000);
    api.addAttempt({
      ...sampleIds,
      attemptId: '99999999-2222-4333-8444-555555555555',
      createdAt: '2026-01-01T00:10:00Z',
    });
    await host.clock.sleep(10);
    await reporter.report(step('b'));
    await reporter.flush(5_000);
    expect(recorded()).toHaveLength(1);
    expect(await reporter.command()).toBe('abort');
    expect(reporter.sinks()).toMatchObject([{ isSuperseded: true }]);
  });
});

describe('a kill', () => {
  test('at any change of the disk loses no report that was told to be safe, and doubles none', async () => {
    for (let crashAt = 1; ; crashAt += 1) {
      const { newHost, recorded } = setUp();
      const disk = fakeDisk();
      disk.crashAt = crashAt;
      const safe: string[] = [];
      const run = async (): Promise<void> => {
        const reporter = await open(newHost(disk));
        for (const name of ['a', 'b', 'c']) {
          await reporter.report(step(name));
          safe.push(name);
          await reporter.flush(1_000);
        }
        await reporter[Symbol.asyncDispose]();
      };
      const isKilled = await run().then(
        () => false,
        () => true,
      );
      delete disk.crashAt;
      await using next = await open(newHost(disk));
      await next.report(step('after'));
      expect(await next.flush(60_000)).toBe(true);
      const steps = recorded().map(({ step }) => step);
      expect(steps.filter((name) => safe.includes(name))).toEqual(safe);
      expect(new Set(steps).size).toBe(steps.length);
      expect(steps.at(-1)).toBe('after');
      if (!isKilled) return;
    }
  });
});

describe('the command', () => {
  test('is to pause until the cluster has answered to the newest report', async () => {
    const { api, way, answer, newHost } = setUp();
    await using reporter = await open(newHost());
    expect(await reporter.command()).toBe('pause');
    await reporter.report(step('ready', 'Ready'));
    expect(await reporter.command()).toBe('none');
    way.cluster = ({ url }) => refused(url);
    await reporter.report(step('stopped', 'KubeletStopped'));
    expect(await reporter.command()).toBe('pause');
    way.cluster = answer;
    api.setStatus({ command: 'cleared' });
    expect(await reporter.command()).toBe('cleared');
  });

  test('is waited for at the server, which answers when it changes', async () => {
    const { api, newHost } = setUp();
    const host = newHost();
    await using reporter = await open(host);
    await reporter.report(step('stopped', 'KubeletStopped'));
    const waiting = reporter.waitFor(({ command }) => command === 'cleared', { deadlineMs: 600_000, signal });
    await host.clock.sleep(20_000);
    const before = api.calls.length;
    api.setStatus({ command: 'cleared', phase: 'KubeletStopped' });
    expect(await waiting).toEqual({ command: 'cleared', phase: 'KubeletStopped' });
    expect(api.calls.length - before).toBe(0);
  });

  test('that does not come within the deadline is undefined', async () => {
    const { newHost } = setUp();
    const host = newHost();
    await using reporter = await open(host);
    await reporter.report(step('stopped', 'KubeletStopped'));
    const fits = ({ command }: { command: string }): boolean => command === 'cleared';
    expect(await reporter.waitFor(fits, { deadlineMs: 30_000, signal })).toBeUndefined();
    expect(host.clock.monotonicMs()).toBeGreaterThanOrEqual(30_000);
  });
});
