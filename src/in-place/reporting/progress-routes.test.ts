import { hash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { podToken, sampleApi, sampleIds, secretOf } from '../../../test/attempt-api.ts';
import { attemptName, type ProgressEvent, reporterGrantSchema } from '../../contract/in-place.ts';
import { fakeHost } from '../../host/fake/fake-host.ts';
import type { ServerRequest } from '../../host/https-server.ts';
import type { ProgressHandled } from './progress-answers.ts';
import type { MadePayload, WantedPayload } from './progress-request.ts';
import { progressRoutes } from './progress-routes.ts';

const { cluster, node, attemptId } = sampleIds;
const token = `flr_${'t'.repeat(43)}`;
const username = 'system:serviceaccount:ipb-system:ipb';
const paths = {
  events: `/v1/clusters/${cluster}/nodes/${node}/attempts/${attemptId}/events`,
  attempt: `/v1/clusters/${cluster}/nodes/${node}/attempts/${attemptId}`,
  reporter: `/v1/clusters/${cluster}/nodes/${node}/reporter`,
};
const event: ProgressEvent = {
  seq: 1,
  phase: 'Preflight',
  step: 'P01',
  status: 'ok',
  message: '',
  bootId: 'b',
  at: '2026-01-01T00:00:00.000Z',
  os: 'rhcos',
  agentVersion: 'test',
};

function setUp({ lookUps = 1_000 } = {}) {
  const api = sampleApi();
  const host = fakeHost();
  let left = lookUps;
  const wanted: WantedPayload[] = [];
  const made: { next: MadePayload } = {
    next: { archive: Buffer.from('tar'), config: 'rendered-worker-1', tokenId: 'abc' },
  };
  const routes = progressRoutes(host, {
    client: api.connect(),
    lookUps: { take: () => (left -= 1) >= 0 },
    makePayload: async (asked) => {
      wanted.push(asked);
      return made.next;
    },
    onTrouble: () => {},
    signal: new AbortController().signal,
  });
  const ask = async (
    method: string,
    target: string,
    { as = '', body, headers = {} }: { as?: string; body?: object | string; headers?: Record<string, string> } = {},
  ): Promise<ProgressHandled> => {
    const bytes =
      typeof body === 'object'
        ? Buffer.from(JSON.stringify(body))
        : body === 'too-large'
          ? body
          : Buffer.from(body ?? '');
    const request: ServerRequest = {
      method,
      target,
      headers: { ...headers, ...(as === '' ? {} : { authorization: `Bearer ${as}` }) },
      peer: { address: '10.0.0.21', from: 'connection' },
      body: bytes,
    };
    return routes.handle(request);
  };
  const begin = (): void => {
    api.addAttempt(sampleIds);
    api.setStatus({ command: 'none', report: { tokenDigest: hash('sha256', token, 'hex') } });
  };
  return { api, host, ask, begin, wanted, made };
}

const read = ({ answer }: ProgressHandled): Record<string, unknown> =>
  JSON.parse(Buffer.from(answer.body).toString()) as never;

describe('who is let in', () => {
  test('strangers get the same bytes, and cost the API no request', async () => {
    const { api, ask, begin } = setUp({ lookUps: 0 });
    begin();
    await ask('GET', paths.attempt, { as: token });
    const before = api.calls.length;
    const strangers = [
      await ask('POST', paths.events, { body: event }),
      await ask('POST', paths.events, { as: 'flp_of-a-pool', body: event }),
      await ask('POST', paths.events, { as: `flr_${'x'.repeat(43)}`, body: event }),
      await ask('POST', paths.events.replace(cluster, 'other'), { as: token, body: event }),
      await ask('POST', paths.events.replace(node, 'worker-1'), { as: token, body: event }),
      await ask('POST', paths.events.replace(attemptId, attemptId.replace('555', '666')), { as: token, body: event }),
      await ask('GET', paths.attempt, { as: `flr_${'x'.repeat(43)}` }),
      await ask('POST', paths.reporter, { as: token }),
      await ask('POST', paths.reporter, { as: podToken(node) }),
      await ask('POST', paths.reporter, { as: podToken(node, { aud: ['https://kubernetes.default.svc'] }) }),
      await ask('POST', paths.reporter, { as: podToken(node, { exp: 1 }) }),
      await ask('GET', '/v1/payload?worker-id=worker-0', { as: 'flb_guess' }),
    ];
    for (const { answer, decision } of strangers) {
      expect(answer).toEqual(strangers[0]?.answer);
      expect(decision.reason).toBe('reporter-refused');
    }
    expect(strangers[0]?.answer).toMatchObject({ status: 401, headers: { 'www-authenticate': 'Bearer' } });
    expect(api.calls.length).toBe(before);
  });

  test('a token that another server gave a moment ago is looked up', async () => {
    const { ask, begin } = setUp();
    begin();
    expect((await ask('POST', paths.events, { as: token, body: event })).answer.status).toBe(202);
  });

  test.each([
    ['GET', '/v1/', 404],
    ['GET', '/v1/clusters/a/nodes/../attempts/b', 404],
    ['GET', paths.events, 405],
    ['DELETE', paths.attempt, 405],
    ['POST', '/v1/payload', 405],
  ])('%s %s is %i', async (method, target, status) => {
    expect((await setUp().ask(method, target)).answer.status).toBe(status);
  });
});

describe('a report', () => {
  test('is answered with its number and the command, and the same report again changes nothing', async () => {
    const { api, ask, begin } = setUp();
    begin();
    const first = await ask('POST', paths.events, { as: token, body: event });
    expect(first.answer.status).toBe(202);
    expect(read(first)).toEqual({ ackSeq: 1, command: 'none', phase: 'Scheduled' });
    api.setStatus({ command: 'pause' });
    const writes = api.calls.filter((call) => call.startsWith('patch')).length;
    expect(read(await ask('POST', paths.events, { as: token, body: event }))).toMatchObject({ ackSeq: 1 });
    expect(api.calls.filter((call) => call.startsWith('patch'))).toHaveLength(writes);
  });

  test('after a gap, or under a number that another report has, is 409 with the number before the one that is wanted', async () => {
    const { ask, begin } = setUp();
    begin();
    await ask('POST', paths.events, { as: token, body: event });
    for (const wrong of [
      { ...event, seq: 3 },
      { ...event, step: 'P02' },
    ]) {
      const handled = await ask('POST', paths.events, { as: token, body: wrong });
      expect(handled.answer.status).toBe(409);
      expect(read(handled)).toMatchObject({ code: 'event-gap', ackSeq: 1 });
    }
  });

  test('together with the next ones is written once, and not at all where one is missing', async () => {
    const { api, ask, begin } = setUp();
    begin();
    const list = [1, 2, 3].map((seq) => ({ ...event, seq, step: `s${seq}` }));
    const before = api.calls.length;
    const taken = await ask('POST', paths.events, { as: token, body: list });
    expect([taken.answer.status, read(taken)['ackSeq']]).toEqual([202, 3]);
    expect(api.calls.slice(before).filter((call) => call.startsWith('patch'))).toHaveLength(1);
    const overlapping = [...list, { ...event, seq: 4, step: 's4' }];
    expect(read(await ask('POST', paths.events, { as: token, body: overlapping }))['ackSeq']).toBe(4);
    const gap = await ask('POST', paths.events, {
      as: token,
      body: [
        { ...event, seq: 5 },
        { ...event, seq: 7 },
      ],
    });
    expect([gap.answer.status, read(gap)['ackSeq']]).toEqual([409, 4]);
  });

  test('that is none is 400 and says what is wrong; one that is too large is 413', async () => {
    const { ask, begin } = setUp();
    begin();
    const wrong = await ask('POST', paths.events, { as: token, body: { ...event, phase: 'Nowhere' } });
    expect([wrong.answer.status, read(wrong)['wrong']]).toEqual([400, expect.stringContaining('phase')]);
    expect((await ask('POST', paths.events, { as: token, body: '{' })).answer.status).toBe(400);
    expect((await ask('POST', paths.events, { as: token, body: 'too-large' })).answer.status).toBe(413);
  });

  test('of an attempt that another one has followed is 410', async () => {
    const { api, ask, begin, host } = setUp();
    begin();
    await ask('POST', paths.events, { as: token, body: event });
    api.addAttempt({ node, attemptId: '99999999-0000-4000-8000-000000000000', createdAt: '2026-01-02T00:00:00Z' });
    await host.clock.sleep(10);
    expect((await ask('POST', paths.events, { as: token, body: { ...event, seq: 2 } })).answer.status).toBe(410);
  });

  test('is 503 while the API of the cluster does not answer, and not lost', async () => {
    const { api, ask, begin } = setUp();
    begin();
    await ask('POST', paths.events, { as: token, body: event });
    api.isAway = true;
    const away = await ask('POST', paths.events, { as: token, body: { ...event, seq: 2 } });
    expect(away.answer).toMatchObject({ status: 503, headers: { 'retry-after': '2' } });
    api.isAway = false;
    expect((await ask('POST', paths.events, { as: token, body: { ...event, seq: 2 } })).answer.status).toBe(202);
  });

  test('may wait for another command, no longer than it asks for', async () => {
    const { api, ask, begin, host } = setUp();
    begin();
    await ask('POST', paths.events, { as: token, body: event });
    const wait = { as: token, body: event, headers: { prefer: 'wait=5', 'x-ipb-seen': 'none/Scheduled' } };
    const startMs = host.clock.monotonicMs();
    await ask('POST', paths.events, wait);
    expect(host.clock.monotonicMs() - startMs).toBe(5_000);
    const waiting = ask('POST', paths.events, wait);
    api.setStatus({ command: 'cleared', phase: 'KubeletStopped' });
    expect(read(await waiting)).toMatchObject({ command: 'cleared', phase: 'KubeletStopped' });
    expect(host.clock.monotonicMs() - startMs).toBe(5_000);
  });

  test('GET shows the attempt', async () => {
    const { ask, begin } = setUp();
    begin();
    await ask('POST', paths.events, { as: token, body: event });
    expect(read(await ask('GET', paths.attempt, { as: token }))).toMatchObject({ node, attemptId, phase: 'Preflight' });
  });
});

describe('the grant of a pod', () => {
  const genuine = podToken(node);

  test('has the Secret of its own node and a token that reports are made with', async () => {
    const { api, ask } = setUp();
    api.addAttempt(sampleIds);
    api.secrets.set('ipb-worker-0', secretOf());
    api.pods.set(genuine, { node, username });
    const handled = await ask('POST', paths.reporter, { as: genuine });
    const grant = reporterGrantSchema.parse(read(handled));
    expect(grant).toMatchObject({ attemptId, secret: { 'ignition-token': 'of worker-0' }, ackSeq: 0 });
    expect((await ask('POST', paths.events, { as: grant.token, body: event })).answer.status).toBe(202);
    // The pod starts again: the unit that the first one started may still report.
    const again = reporterGrantSchema.parse(read(await ask('POST', paths.reporter, { as: genuine })));
    expect(again.ackSeq).toBe(1);
    for (const [index, given] of [grant.token, again.token].entries()) {
      const next = { ...event, seq: 2 + index };
      expect((await ask('POST', paths.events, { as: given, body: next })).answer.status).toBe(202);
    }
    expect(JSON.stringify(api.status())).not.toContain(grant.token);
    expect(JSON.stringify(handled.decision)).not.toContain('flr_');
  });

  test.each([
    ['of another node', { node: 'worker-1', username }],
    ['of another account', { node, username: 'system:serviceaccount:default:ipb' }],
    ['that is bound to no node', { username }],
    ['for another audience', { node, username, audiences: ['other'] }],
  ])('is not for the token of a pod %s', async (_, pod) => {
    const { api, ask } = setUp();
    api.addAttempt(sampleIds);
    api.secrets.set('ipb-worker-0', secretOf());
    api.pods.set(genuine, pod);
    expect((await ask('POST', paths.reporter, { as: genuine })).answer.status).toBe(401);
    expect((await ask('POST', paths.reporter, { as: podToken(node, { forged: true }) })).answer.status).toBe(401);
  });

  test('waits for the controller to make the attempt', async () => {
    const { api, ask } = setUp();
    api.pods.set(genuine, { node, username });
    expect(read(await ask('POST', paths.reporter, { as: genuine }))).toMatchObject({ code: 'attempt-not-there' });
    api.secrets.set('ipb-worker-0', secretOf());
    expect((await ask('POST', paths.reporter, { as: genuine })).answer.status).toBe(503);
    const waiting = ask('POST', paths.reporter, { as: genuine });
    api.addAttempt(sampleIds);
    expect((await waiting).answer.status).toBe(200);
  });

  test('is refused once the host has stopped the kubelet, and after the end', async () => {
    for (const status of [
      { phase: 'KubeletStopped' },
      { phase: 'PreflightFailed' },
      { phase: 'Ready', report: { phases: [{ phase: 'KubeletStopped', at: 't', bootId: 'b' }] } },
    ]) {
      const { api, ask } = setUp();
      api.addAttempt(sampleIds);
      api.setStatus(status);
      api.secrets.set('ipb-worker-0', secretOf());
      api.pods.set(genuine, { node, username });
      const handled = await ask('POST', paths.reporter, { as: genuine });
      expect([handled.answer.status, handled.decision.reason]).toEqual([409, 'attempt-begun']);
    }
  });
});

describe('the payload', () => {
  const query = '/v1/payload?worker-id=w-17&cluster-id=demo-1&region=north';
  const secret = {
    ...secretOf(),
    os: 'rhel',
    'bootstrap-token': 'flb_secret',
    'worker-id': 'w-17',
    'cluster-id': 'demo-1',
    region: 'north',
    'node-pool': 'infra',
    'target-hash': 'rendered-infra-1',
  };

  async function setUpPayload() {
    const given = setUp();
    given.api.addAttempt({ ...sampleIds, os: 'rhel' });
    given.api.secrets.set('ipb-worker-0', secret);
    await given.host.clock.sleep(10);
    return given;
  }

  test('is made for the worker of the token, with the ids of its Secret', async () => {
    const { ask, wanted } = await setUpPayload();
    const handled = await ask('GET', query, { as: 'flb_secret' });
    expect(handled.answer).toMatchObject({ status: 200, headers: { 'content-type': 'application/gzip' } });
    expect(handled.decision).toMatchObject({ machine: node });
    const ids = { workerId: 'w-17', clusterId: 'demo-1', region: 'north' };
    expect(wanted).toEqual([{ ids, pool: 'infra', config: 'rendered-infra-1', address: '10.0.0.21' }]);
  });

  test.each(['worker-id=w-18', 'cluster-id=demo-2', 'region=south'])('is not for %s', async (other) => {
    const { ask, wanted } = await setUpPayload();
    const [name = ''] = other.split('=');
    const handled = await ask('GET', query.replace(new RegExp(`${name}=[^&]*`), other), { as: 'flb_secret' });
    expect([handled.answer.status, read(handled)['wrong'], wanted]).toEqual([403, [name], []]);
  });

  test('is not for another token, nor after the end of the attempt, nor after the time of the Secret', async () => {
    const { api, ask, host } = await setUpPayload();
    expect((await ask('GET', query, { as: 'flb_other' })).answer.status).toBe(401);
    api.secrets.set('ipb-worker-0', { ...secret, 'not-after': '2025-01-01T00:00:00Z' });
    expect((await ask('GET', query, { as: 'flb_secret' })).answer.status).toBe(401);
    api.secrets.set('ipb-worker-0', secret);
    api.setStatus({ phase: 'Failed' }, attemptName(node, attemptId));
    await host.clock.sleep(10);
    expect((await ask('GET', query, { as: 'flb_secret' })).answer.status).toBe(401);
  });

  test('that cannot be made says why', async () => {
    const { ask, made } = await setUpPayload();
    made.next = { refusal: 'payload-impossible', reason: 'a file has no contents' };
    const handled = await ask('GET', query, { as: 'flb_secret' });
    expect([handled.answer.status, read(handled)['reason']]).toEqual([500, 'a file has no contents']);
  });
});
