import { describe, expect, test } from 'vitest';
import { sampleIds } from '../../../test/attempt-api.ts';
import type { AttemptSettings, ProgressEvent } from '../../contract/in-place.ts';
import { hostErrors } from '../../host/errors.ts';
import { fakeDisk } from '../../host/fake/fake-files.ts';
import { fakeHost } from '../../host/fake/fake-host.ts';
import type { HttpAnswer, HttpRequest } from '../../host/network.ts';
import { type AttemptReporter, openReporter } from './reporter.ts';

/** A report server as somebody else may have written it: it counts, and believes a number that it has. */
class ForeignServer {
  readonly events: ProgressEvent[] = [];
  readonly requests: HttpRequest[] = [];
  command = 'none';
  isAway = false;
  /** Answers instead of the usual ones. */
  status: number | undefined;

  answer(request: HttpRequest): HttpAnswer {
    this.requests.push(request);
    if (this.isAway) {
      throw hostErrors.NETWORK({ target: request.url, failure: 'timeout', reason: 'no answer in time' });
    }
    const json = (status: number, value: object): HttpAnswer => {
      return { status, headers: {}, body: Buffer.from(JSON.stringify(value)) };
    };
    if (this.status !== undefined) return json(this.status, {});
    const event = JSON.parse(String(request.body)) as ProgressEvent;
    if (event.seq > this.events.length + 1) return json(409, { ackSeq: this.events.length });
    if (event.seq === this.events.length + 1) this.events.push(event);
    return json(202, { ackSeq: this.events.length, command: this.command });
  }

  steps(): readonly string[] {
    return this.events.map(({ step }) => step);
  }
}

function setUp() {
  const [own, foreign] = [new ForeignServer(), new ForeignServer()];
  const disk = fakeDisk();
  const newHost = () =>
    fakeHost({
      disk,
      network: { request: async (request) => (request.url.includes('reports.test') ? foreign : own).answer(request) },
    });
  return { own, foreign, newHost };
}

const secret = {
  os: 'rhel',
  'cluster-id': 'their-cluster',
  'report-url': 'https://reports.test:8443/base/',
  'report-token': 'their-token',
  'report-ca.crt': 'THEIR CA',
  proxy: JSON.stringify({ https: 'http://proxy.test:3128', no: '.internal' }),
} as const;

function open(host: ReturnType<typeof fakeHost>, lastSeq = 0): Promise<AttemptReporter> {
  const { attemptId, node, cluster } = sampleIds;
  const settings: AttemptSettings = {
    attemptId,
    node,
    isAdoption: false,
    facts: { clusterId: cluster, serviceUrl: 'https://api-int.test:22623', serviceCa: 'OUR CA' },
    grant: { attemptId, secret, token: 'our-token', ackSeq: lastSeq },
    lastSeq,
    programDigests: {},
  };
  return openReporter(host, { settings, spool: '/spool', agentVersion: 'test' });
}

const step = (name: string) => ({ phase: 'Preflight', step: name, status: 'ok', message: '' }) as const;
const signal = new AbortController().signal;

describe('a foreign report URL', () => {
  test('gets the same reports, by its own path, token, authority and proxy', async () => {
    const { own, foreign, newHost } = setUp();
    await using reporter = await open(newHost());
    await reporter.report(step('a'));
    await reporter.flush(5_000);
    expect(foreign.events).toEqual(own.events);
    const path = `nodes/${sampleIds.node}/attempts/${sampleIds.attemptId}/events`;
    expect(foreign.requests[0]).toMatchObject({
      url: `https://reports.test:8443/base/v1/clusters/their-cluster/${path}`,
      method: 'POST',
      headers: { authorization: 'Bearer their-token' },
      ca: 'THEIR CA',
      proxy: 'http://proxy.test:3128',
    });
    expect(own.requests[0]).toMatchObject({ ca: 'OUR CA', headers: { authorization: 'Bearer our-token' } });
    expect(own.requests[0]).not.toHaveProperty('proxy');
  });

  test('that is away delays nothing, and gets everything in order when it is back, also from a new process', async () => {
    const { own, foreign, newHost } = setUp();
    foreign.isAway = true;
    const host = newHost();
    const first = await open(host);
    for (const name of ['a', 'b']) await first.report(step(name));
    const startMs = host.clock.monotonicMs();
    expect(await first.flush(60_000)).toBe(true);
    expect(host.clock.monotonicMs() - startMs).toBeLessThan(1_000);
    expect(own.steps()).toEqual(['a', 'b']);
    expect(first.sinks()).toMatchObject([
      { isDone: true },
      { isDone: false, trouble: expect.stringContaining('time') },
    ]);
    await first[Symbol.asyncDispose]();
    foreign.isAway = false;
    await using second = await open(newHost());
    await second.report(step('c'));
    expect(await second.flush(60_000)).toBe(true);
    expect(foreign.steps()).toEqual(['a', 'b', 'c']);
    expect(own.steps()).toEqual(['a', 'b', 'c']);
  });

  test('that has lost its reports gets those that are still here again', async () => {
    const { foreign, newHost } = setUp();
    await using reporter = await open(newHost());
    for (const name of ['a', 'b', 'c']) await reporter.report(step(name));
    await reporter.flush(5_000);
    foreign.events.splice(1);
    await reporter.report(step('d'));
    await reporter.flush(5_000);
    expect(foreign.steps()).toEqual(['a', 'b', 'c', 'd']);
  });

  test('has its own count: a pod that starts again knows only that of the cluster', async () => {
    for (const [known, steps] of [
      [3, ['x', 'x', 'x', 'new']],
      [12, [...Array.from({ length: 12 }, () => 'x'), 'new']],
    ] as const) {
      const { own, foreign, newHost } = setUp();
      const x = { ...step('x'), seq: 0, bootId: '', at: '', os: 'rhcos', agentVersion: '' } as const;
      for (let n = 0; n < 10; n += 1) own.events.push(x);
      for (let n = 0; n < known; n += 1) foreign.events.push(x);
      await using reporter = await open(newHost(), 10);
      await reporter.report(step('new'));
      await reporter.flush(5_000);
      expect(foreign.steps()).toEqual(steps);
      expect(own.events.map(({ seq }) => seq).at(-1)).toBe(11);
    }
  });

  test.each([400, 413, 422])('that can never take a report (%i) gets the next one', async (status) => {
    const { foreign, newHost } = setUp();
    await using reporter = await open(newHost());
    foreign.status = status;
    await reporter.report(step('a'));
    await reporter.flush(5_000);
    foreign.status = undefined;
    await reporter.report(step('b'));
    await reporter.flush(5_000);
    expect(foreign.steps()).toEqual(['b']);
  });

  test.each([401, 403, 404, 429, 500, 503])('that refuses for now (%i) is asked again', async (status) => {
    const { foreign, newHost } = setUp();
    const host = newHost();
    await using reporter = await open(host);
    foreign.status = status;
    await reporter.report(step('a'));
    expect(await reporter.flush(5_000)).toBe(true);
    foreign.status = undefined;
    await host.clock.sleep(10_000);
    await reporter.flush(1_000);
    expect(foreign.steps()).toEqual(['a']);
  });

  test('may pause and abort, but only the cluster clears', async () => {
    const { own, foreign, newHost } = setUp();
    await using reporter = await open(newHost());
    await reporter.report(step('a'));
    await reporter.flush(5_000);
    foreign.command = 'cleared';
    expect(await reporter.command()).toBe('none');
    foreign.command = 'pause';
    own.command = 'cleared';
    expect(await reporter.command()).toBe('pause');
    foreign.command = 'none';
    const cleared = ({ command }: { readonly command: string }): boolean => command === 'cleared';
    expect(await reporter.waitFor(cleared, { deadlineMs: 60_000, signal })).toMatchObject({ command: 'cleared' });
    foreign.command = 'abort';
    expect(await reporter.command()).toBe('abort');
  });
});
