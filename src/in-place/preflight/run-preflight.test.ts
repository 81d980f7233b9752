import { hash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { type AttemptSettings, inPlaceFiles, type PreflightResult } from '../../contract/in-place.ts';
import { osReleaseFile, releaseFile, runtimeUnitFolder } from '../../contract/machine-paths.ts';
import { hostErrors } from '../../host/errors.ts';
import { type FakeHost, fakeHost } from '../../host/fake/fake-host.ts';
import type { HttpAnswer, HttpRequest, Network } from '../../host/network.ts';
import { runPreflight } from './run-preflight.ts';
import { sampleDaemonImage, sampleIgnition, sampleSettings } from './sample-attempt.ts';

type Serve = (request: HttpRequest) => Promise<HttpAnswer>;

const give = (status: number, body: Uint8Array | string = ''): HttpAnswer => ({
  status,
  headers: {},
  body: Buffer.from(body),
});

const serve: Serve = async ({ url }) => {
  if (url.endsWith('/config/worker')) return give(200, sampleIgnition());
  if (url.includes('/events')) return give(202, '{"ackSeq":1}');
  if (url.endsWith('/selfsubjectaccessreviews')) return give(201, '{"status":{"allowed":true}}');
  throw hostErrors.NETWORK({ target: url, failure: 'refused', reason: 'connection refused' });
};

async function machine(answers: Serve = serve, changes: { readonly uid?: number } = {}): Promise<FakeHost> {
  const request: Serve = async (asked) => {
    const answer = await answers(asked);
    return { ...answer, headers: { date: host.clock.now().toUTCString() } };
  };
  const network: Partial<Network> = {
    request,
    keepConnections: () => ({
      request,
      open: async ({ url }) => Promise.reject(new Error(url)),
      [Symbol.dispose]: () => undefined,
    }),
  };
  const host: FakeHost = fakeHost({
    environment: changes,
    network,
    processes: {
      find: async (program) => (program === 'systemctl' ? '/usr/bin/systemctl' : undefined),
      run: async () => ({ code: 0, signal: undefined, stdout: `${sampleDaemonImage}\n`, stderr: '', timedOut: false }),
    },
  });
  for (const folder of ['/etc', runtimeUnitFolder, '/usr/local/share/firstlight', '/var/lib', '/proc/1']) {
    await host.files.makeFolder(folder);
  }
  await host.files.write(osReleaseFile, 'ID=debian\nVERSION_ID="12"\n');
  await host.files.write(releaseFile, '{}');
  await host.files.write('/proc/1/mountinfo', '1 0 0:1 / / rw - ext4 /dev/vda rw\n');
  return host;
}

const adopted: AttemptSettings = { ...sampleSettings, isAdoption: true };
const failedIds = (results: readonly PreflightResult[]) =>
  results.filter(({ outcome }) => outcome === 'failed').map(({ id }) => id);

/** Path, kind, mode and content of everything on a disk. */
function treeDigest({ disk }: FakeHost): string {
  const nodes = [...disk.nodes].map(([path, node]) => [
    path,
    node,
    node.kind === 'file' ? node.content.toString() : '',
  ]);
  return hash('sha256', JSON.stringify(nodes), 'hex');
}

describe('preflight on a host', () => {
  test('passes on a machine that has what it needs, and says so for each check', async () => {
    const host = await machine();
    const results = await runPreflight(host, adopted, new AbortController().signal);
    expect(failedIds(results)).toEqual([]);
    expect(results).toHaveLength(14);
  });

  test('reports five faults at once, in one round, when one of them stays', async () => {
    const host = await machine(async (request) => (request.url.includes('/config/') ? give(401) : serve(request)), {
      uid: 1000,
    });
    await host.files.write(osReleaseFile, 'ID=alpine\nVERSION_ID=3.20\n');
    await host.files.remove(releaseFile);
    const secret = {
      ...sampleSettings.grant.secret,
      'not-after': '2025-12-31T00:00:00Z',
      'registry-probe': 'r.test/p:1',
    };
    const settings = { ...adopted, grant: { ...adopted.grant, secret } };
    const results = await runPreflight(host, settings, new AbortController().signal);
    expect(failedIds(results)).toEqual(['P01', 'P02', 'P04', 'P08', 'P10']);
    expect(host.clock.monotonicMs()).toBe(0);
  });

  test('changes nothing on the host, whether it passes or fails', async () => {
    for (const answers of [serve, async () => give(403)]) {
      const host = await machine(answers);
      const [before, changes] = [treeDigest(host), host.disk.changes];
      await runPreflight(host, adopted, new AbortController().signal);
      expect(treeDigest(host)).toBe(before);
      expect(host.disk.changes).toBe(changes);
    }
  });

  test('tries again what may pass, with growing pauses, and ends when it has passed', async () => {
    let rounds = 0;
    const host = await machine(async (request) => {
      if (!request.url.includes('/config/')) return serve(request);
      rounds += 1;
      return rounds < 4 ? give(503) : serve(request);
    });
    const seen: (readonly [readonly string[], boolean])[] = [];
    const results = await runPreflight(host, adopted, new AbortController().signal, {
      onRound: async (round, isLast) => void seen.push([failedIds(round), isLast]),
    });
    expect(failedIds(results)).toEqual([]);
    expect(host.clock.monotonicMs()).toBe(35_000);
    expect(seen).toEqual([
      [['P08'], false],
      [['P08'], false],
      [['P08'], false],
      [[], true],
    ]);
  });

  test('gives up before the controller does', async () => {
    const host = await machine(async (request) => (request.url.includes('/config/') ? give(503) : serve(request)));
    const results = await runPreflight(host, adopted, new AbortController().signal);
    expect(failedIds(results)).toEqual(['P08']);
    expect(host.clock.monotonicMs()).toBeLessThan(600_000);
  });

  test('names the attempt that the host is in', async () => {
    const host = await machine();
    const other = {
      attemptId: 'other',
      os: 'rhcos',
      phase: 'Applying',
      since: '2026-01-01T00:00:00.000Z',
      bootId: 'boot',
      seq: 20,
      history: [],
    };
    await host.files.makeFolder(inPlaceFiles.folder);
    await host.files.write(inPlaceFiles.state, JSON.stringify(other));
    const results = await runPreflight(host, adopted, new AbortController().signal);
    expect(results.find(({ id }) => id === 'P03')?.message).toBe('IPB-P03 attempt other in phase Applying');
  });
});
