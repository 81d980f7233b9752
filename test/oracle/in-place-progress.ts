// The progress API on the config servers of two masters: the real program and kube-apiserver, asked by curl and openssl,
// and by the reporter of a host. Beside them a report server of others.
import { spawn } from 'node:child_process';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { attemptName, attemptPath, type ProgressEvent } from '../../src/contract/in-place.ts';
import { realHost } from '../../src/host/real/real-host.ts';
import { openReporter } from '../../src/in-place/reporting/reporter.ts';
import { newReporterToken } from '../../src/in-place/reporting/reporter-token.ts';
import { type AttemptLab, as, cluster, eventNumber, id, post } from './attempt-lab.ts';
import type { Lab } from './config-server-lab.ts';

const host = realHost();

/** When the client that sends half a report is gone. It is cut off after ten seconds, which other tests use. */
let slowEnd: Promise<void> | undefined;

export function reportTests(at: () => AttemptLab): void {
  test('are taken with and without a length, after a 100 Continue, and on one connection one after the other', () => {
    const { curl, makeAttempt, reportOf, servers } = at();
    const { token, path } = makeAttempt('node-a', id(1));
    expect(curl(servers[0], path, post(token, eventNumber(1)))).toMatchObject({ status: 202 });
    const chunked = [...as(token), '-H', 'Transfer-Encoding: chunked', '--data-binary', '@-'];
    expect(curl(servers[0], path, chunked, JSON.stringify(eventNumber(2))).status).toBe(202);
    const waiting = [...post(token, eventNumber(3)), '-H', 'Expect: 100-continue', '--expect100-timeout', '20'];
    const startMs = Date.now();
    expect(curl(servers[0], path, waiting).status).toBe(202);
    expect(Date.now() - startMs).toBeLessThan(10_000);
    const url = `https://localhost:${servers[0].port}${path}`;
    const both = curl(servers[0], path, [...post(token, eventNumber(3)), '-w', '%{num_connects}\n', url]);
    expect(both.body.match(/^\d$/gm) ?? []).toContain('0');
    expect(reportOf('node-a', id(1))).toMatchObject({ ackSeq: 3, events: [{ seq: 1 }, { seq: 2 }, { seq: 3 }] });
  });

  test('are refused by the codes of the API', () => {
    const { curl, makeAttempt, servers } = at();
    const { token, path } = makeAttempt('node-b', id(2));
    expect(curl(servers[0], path, post(newReporterToken(host.random), eventNumber(1))).status).toBe(401);
    expect(curl(servers[0], path, post(token, { seq: 1 })).status).toBe(400);
    const gap = curl(servers[0], path, post(token, eventNumber(2)));
    expect([gap.status, JSON.parse(gap.body)]).toMatchObject([409, { ackSeq: 0 }]);
    const large = curl(servers[0], path, [...as(token), '--data-binary', '@-'], 'x'.repeat(70_000));
    expect(large.status).toBe(413);
    const stream = [...as(token), '-H', 'Transfer-Encoding: chunked', '--data-binary', '@-'];
    expect(curl(servers[0], path, stream, 'x'.repeat(70_000)).status).toBe(413);
    expect(curl(servers[0], path, as(token)).status).toBe(405);
    expect(curl(servers[0], '/v1/elsewhere', as(token)).status).toBe(404);
    expect(servers[0].logText()).not.toContain(token);
  });

  test('that do not end delay nobody', () => {
    const { curl, makeAttempt, lab, servers } = at();
    const { token, path } = makeAttempt('node-c', id(3));
    const head = `POST ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\nContent-Length: 500\r\n\r\n{"seq"`;
    const args = ['s_client', '-quiet', '-connect', `localhost:${servers[0].port}`, '-CAfile', lab.at('root-ca.crt')];
    const slow = spawn('openssl', args, { stdio: ['pipe', 'ignore', 'ignore'] });
    slow.stdin.write(head);
    expect(curl(servers[0], path, post(token, eventNumber(1))).status).toBe(202);
    slowEnd = new Promise((resolve) => slow.once('close', () => resolve()));
  });

  test('at both servers at the same moment are recorded once', async () => {
    const { curlLater, makeAttempt, reportOf, servers } = at();
    const { token, path } = makeAttempt('node-d', id(4));
    for (let seq = 1; seq <= 5; seq += 1) {
      const asked = servers.flatMap((server) =>
        [1, 2].map(() => curlLater(server, path, post(token, eventNumber(seq)))),
      );
      expect((await Promise.all(asked)).map((out) => out.slice(-3))).toEqual(['202', '202', '202', '202']);
    }
    expect(reportOf('node-d', id(4)).events.map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5]);
  });

  test('wait for the controller, whose command arrives when it is given', async () => {
    const { curl, curlLater, makeAttempt, patchStatus, servers } = at();
    const { token, path } = makeAttempt('node-e', id(5));
    expect(curl(servers[1], path, post(token, eventNumber(1, { phase: 'KubeletStopped' }))).status).toBe(202);
    const wait = ['-H', 'Prefer: wait=9', '-H', 'X-Ipb-Seen: none/Scheduled'];
    const startMs = Date.now();
    const again = post(token, eventNumber(1, { phase: 'KubeletStopped' }));
    const waiting = curlLater(servers[1], path, [...wait, ...again]);
    patchStatus(attemptName('node-e', id(5)), { command: 'cleared' });
    expect(await waiting).toContain('"command":"cleared"');
    expect(Date.now() - startMs).toBeLessThan(8_000);
    expect(curl(servers[1], attemptPath(cluster, 'node-e', id(5)), as(token)).body).toContain(
      '"phase":"KubeletStopped"',
    );
    // The API keeps times of creation in whole seconds.
    await host.clock.sleep(1_000);
    makeAttempt('node-e', id(6));
    const next = post(token, eventNumber(2));
    await expect.poll(() => curl(servers[1], path, next).status).toBe(410);
  });
}

export function reporterTests(at: () => AttemptLab): void {
  /** Somebody else's: it knows the protocol from the reference and shares no code with ours. */
  async function foreignServer(
    lab: Lab,
  ): Promise<{ readonly server: Server; readonly url: string; readonly steps: string[] }> {
    const steps: string[] = [];
    const pair = lab.pair();
    const server = createServer(
      { cert: pair.certificatePem, key: pair.key.privatePem.reveal() },
      (request, response) => {
        let text = '';
        request.on('data', (chunk: Buffer) => (text += String(chunk)));
        request.on('end', () => {
          const { seq, step } = JSON.parse(text) as ProgressEvent;
          const isAllowed = request.headers.authorization === 'Bearer theirs';
          const isGap = seq > steps.length + 1;
          if (isAllowed && seq === steps.length + 1) steps.push(step);
          response.writeHead(isAllowed ? (isGap ? 409 : 202) : 401, { 'content-type': 'application/json' });
          response.end(JSON.stringify({ ackSeq: steps.length }));
        });
      },
    );
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return { server, steps, url: `https://localhost:${(server.address() as AddressInfo).port}/reports` };
  }

  test('brings everything to both of its servers, also what was reported while the API was away, by another process', async () => {
    const { makeAttempt, patchStatus, reportOf, plane, lab, servers } = at();
    const { token } = makeAttempt('node-r', id(9));
    const foreign = await foreignServer(lab);
    const secret = {
      os: 'rhcos',
      'report-url': foreign.url,
      'report-token': 'theirs',
      'report-ca.crt': lab.rootCa.certificatePem,
    } as const;
    const serviceUrl = `https://localhost:${servers[0].port}`;
    const settings = {
      attemptId: id(9),
      node: 'node-r',
      isAdoption: false,
      facts: { clusterId: cluster, serviceUrl, serviceCa: lab.rootCa.certificatePem },
      grant: { attemptId: id(9), secret, token, ackSeq: 0 },
      lastSeq: 0,
      programDigests: {},
    };
    const options = { settings, spool: lab.at('spool'), agentVersion: 'test' };
    const report = (step: string) => ({ phase: 'Preflight', step, status: 'ok', message: step }) as const;
    const wanted = ['a', 'b', 'c', 'd', 'e', 'f'];
    {
      await using reporter = await openReporter(host, options);
      for (const step of ['a', 'b']) await reporter.report(report(step));
      expect(await reporter.flush(10_000)).toBe(true);
      await plane.kill('kube-apiserver');
      for (const step of ['c', 'd']) await reporter.report(report(step));
      expect(await reporter.flush(1_000)).toBe(false);
    }
    plane.start('kube-apiserver');
    await plane.until('the API', () => plane.kubectl('get', '--raw', '/readyz').output === 'ok');
    await using reporter = await openReporter(host, options);
    for (const step of ['e', 'f']) await reporter.report(report(step));
    expect(await reporter.flush(30_000)).toBe(true);
    expect(reportOf('node-r', id(9)).events.map(({ step }) => step)).toEqual(wanted);
    await expect.poll(() => foreign.steps, { timeout: 10_000 }).toEqual(wanted);
    patchStatus(attemptName('node-r', id(9)), { command: 'cleared' });
    const limits = { deadlineMs: 20_000, signal: AbortSignal.timeout(30_000) };
    expect(await reporter.waitFor(({ command }) => command === 'cleared', limits)).toMatchObject({
      command: 'cleared',
    });
    foreign.server.close();
  }, 90_000);

  test('has come further than the client that never ended its report: that one was cut off', async () => {
    const { reportOf, servers } = at();
    await slowEnd;
    expect(reportOf('node-c', id(3))).toMatchObject({ ackSeq: 1 });
    await servers[0].logged(({ text }) => text === 'a client was too slow with its request');
  }, 30_000);
}
