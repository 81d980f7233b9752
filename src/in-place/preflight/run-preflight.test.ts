import { hash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import {
  type AttemptSecret,
  type AttemptSettings,
  inPlaceFiles,
  type PreflightResult,
} from '../../contract/in-place.ts';
import { bootstrapKubeconfig, osReleaseFile, releaseFile, runtimeUnitFolder } from '../../contract/machine-paths.ts';
import { hostErrors } from '../../host/errors.ts';
import { type FakeHost, fakeHost } from '../../host/fake/fake-host.ts';
import type { HttpAnswer, HttpRequest, Network } from '../../host/network.ts';
import { inlineFile } from '../../ignition/inline-contents.ts';
import type { PayloadIds } from '../payload/payload-manifest.ts';
import { sampleAuthority, sampleIds, samplePayload, sampleRequest, sampleServer } from '../payload/sample-payload.ts';
import { runPreflight } from './run-preflight.ts';
import { sampleDaemonImage, sampleIgnition, sampleKubeconfig, sampleSettings } from './sample-attempt.ts';

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
      find: async (program) =>
        ['systemctl', 'bash', 'tar', 'apt-get'].includes(program) ? `/usr/bin/${program}` : undefined,
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
/** The route by payload, on the same machine. */
async function byPayload(ids: PayloadIds): Promise<{ readonly host: FakeHost; readonly settings: AttemptSettings }> {
  const kubeconfig = inlineFile({ path: bootstrapKubeconfig, content: sampleKubeconfig, mode: 0o600 });
  const others = sampleRequest().addedFiles.filter(({ path }) => path !== bootstrapKubeconfig);
  const archive = await samplePayload({ ids, addedFiles: [...others, kubeconfig] });
  const url = `https://${sampleServer}/v1/payload`;
  const secret: AttemptSecret = {
    os: 'rhel',
    'attempt-id': sampleSettings.attemptId,
    'not-after': '2026-01-01T02:00:00Z',
    'bootstrap-url': url,
    'bootstrap-token': 't',
    'bootstrap-ca.crt': sampleAuthority,
    'worker-id': sampleIds.workerId,
    'cluster-id': sampleIds.clusterId,
    region: sampleIds.region,
  };
  const host = await machine(async (asked) => (asked.url.startsWith(url) ? give(200, archive) : serve(asked)));
  return { host, settings: { ...adopted, grant: { ...adopted.grant, secret } } };
}

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

  test('does not ask again for a payload that is larger than any can be', async () => {
    const host = await machine(async (request) => {
      if (!request.url.includes('/config/')) return serve(request);
      throw hostErrors.NETWORK({ target: request.url, failure: 'too-large', reason: `over ${request.maxBytes} bytes` });
    });
    expect(failedIds(await runPreflight(host, adopted, new AbortController().signal))).toEqual(['P08']);
    expect(host.clock.monotonicMs()).toBe(0);
  });

  test('needs no image whose program came with the attempt, also on a node whose container runtime is dead', async () => {
    const whole = await machine();
    const run = async () => ({ code: 1, signal: undefined, stdout: '', stderr: 'no such socket', timedOut: false });
    const host: FakeHost = { ...whole, processes: { ...whole.processes, run } };
    const failures = async (programImage: string) =>
      failedIds(await runPreflight(host, { ...sampleSettings, programImage }, new AbortController().signal));
    expect(await failures(sampleDaemonImage)).toEqual([]);
    expect(await failures('registry.test/of-another-release:1')).toEqual(['P10']);
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

  test('reads the payload of the other route as the host will, and finds the API in it', async () => {
    const { host, settings } = await byPayload(sampleIds);
    const results = await runPreflight(host, settings, new AbortController().signal);
    expect(failedIds(results)).toEqual([]);
    const skipped = results.filter(({ outcome }) => outcome === 'skipped').map(({ id }) => id);
    expect(skipped).toEqual(['P09', 'P10']);
  });

  test('refuses a payload that was made for another worker', async () => {
    const { host, settings } = await byPayload({ ...sampleIds, workerId: 'worker-9' });
    const results = await runPreflight(host, settings, new AbortController().signal);
    expect(failedIds(results)).toEqual(['P12']);
    expect(results.find(({ id }) => id === 'P12')?.message).toContain('payload is for worker worker-9');
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
