// The config server as a program, judged by the real Ignition, curl and openssl over loopback.
import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { servedPaths } from '../../src/config-server/served-config.ts';
import { masterKeyFiles, masterKeysSchema } from '../../src/control-plane/master-keys.ts';
import type { IgnitionConfig } from '../../src/ignition/config.ts';
import { issueSigner } from '../../src/pki/issue.ts';
import {
  ask,
  bearer,
  type Lab,
  type LabServer,
  makeLab,
  readLedger,
  startServer,
  tokens,
} from './config-server-lab.ts';
import { type Fetched, fetchPointer, fileAt, type Pointer } from './ignition-fetch.ts';
import { sampleRandom } from './pki-sample.ts';
import { oracleProgram } from './programs.ts';

let lab: Lab;
let server: LabServer;
beforeAll(async () => {
  lab = makeLab();
  server = await startServer(lab);
});
afterAll(async () => {
  const status = await server?.stop();
  lab?.[Symbol.dispose]();
  if (status !== 0) throw new Error(`the server ended with ${status}`);
});

/** The real Ignition asks our server, as a master unless told otherwise. */
function fetchWithIgnition(given: Partial<Pointer> & Pick<Pointer, 'token'>): Promise<Fetched> {
  return fetchPointer({ pool: 'master', caPem: lab.rootCa.certificatePem, port: server.port, ...given });
}

function curl(path: string, args: readonly string[] = []): { readonly code: number | null; readonly out: string } {
  writeFileSync(join(lab.folder, 'ca.crt'), lab.rootCa.certificatePem);
  const run = spawnSync(
    'curl',
    ['-sS', '--cacert', join(lab.folder, 'ca.crt'), ...args, `https://localhost:${server.port}${path}`],
    { encoding: 'utf8', timeout: 20_000 },
  );
  return { code: run.status, out: `${run.stdout}${run.stderr}` };
}

describe('the real Ignition', () => {
  test('fetches the configuration of its pool and gets every file that makes it a node', async () => {
    for (const [pool, token] of [
      ['master', tokens.master],
      ['worker', tokens.worker],
    ] as const) {
      const { code, output, config } = await fetchWithIgnition({ token, pool });
      expect(code, output).toBe(0);
      const paths = (config?.storage?.files ?? []).map(({ path }) => path);
      for (const path of [...Object.values(servedPaths), '/etc/kubernetes/kubelet-configuration.yaml']) {
        expect(paths).toContain(path);
      }
      expect(config?.systemd?.units?.map(({ name }) => name)).toContain('kubelet.service');
      const served = /token: ([a-z0-9.]+)/.exec(fileAt(config, servedPaths.bootstrapKubeconfig))?.[1];
      expect(readLedger(lab).find((line) => line['token'] === served)).toMatchObject({ kind: 'issued', pool });
      expect(server.logText()).not.toContain(served);
    }
    expect(server.logText()).not.toContain(tokens.master);
  });

  test.each(['3.2.0', '3.4.0', '3.5.0'] as const)('with a pointer of spec %s gets what it asked for', async (spec) => {
    const { code, output, config } = await fetchWithIgnition({ token: tokens.worker, pool: 'worker', spec });
    expect(code, output).toBe(0);
    // Whatever its own file is written in, Ignition asks for the newest spec it knows.
    const line = await server.logged(
      ({ agent, path }) => String(agent).startsWith('Ignition/') && path === '/config/worker',
    );
    expect(line).toMatchObject({
      status: 200,
      spec: '3.5.0',
      accept: expect.stringContaining('version=3.5.0') as string,
    });
    expect(fileAt(config, servedPaths.nodeAnnotations)).toContain('rendered-worker-');
  });

  test('with a wrong, an expired or a foreign token it gets nothing, keeps asking, and our log says why', async () => {
    const attempts = [
      [tokens.wrong, 'unknown'],
      [tokens.expired, 'expired'],
      [tokens.worker, 'other-pool'],
    ] as const;
    const before = readLedger(lab).length;
    const fetched = await Promise.all(attempts.map(([token]) => fetchWithIgnition({ token, giveUp: 1 })));
    for (const [index, { code, output }] of fetched.entries()) {
      expect(code).not.toBe(0);
      // It took the answer for a passing trouble: tried more than once, and ended only at its own deadline.
      expect(output).toContain('attempt #2');
      expect(output).toContain('Network Authentication Required');
      await server.logged((line) => line['status'] === 511 && line['detail'] === attempts[index]?.[1]);
    }
    expect(readLedger(lab)).toHaveLength(before);
  });

  test('that trusts another CA takes nothing from us, and our log says that it is the CA', async () => {
    const other = issueSigner(
      { subject: { commonName: 'other', organizations: [] }, validityDays: 10 },
      { random: sampleRandom('other'), now: new Date() },
    );
    const { code } = await fetchWithIgnition({ token: tokens.master, caPem: other.certificatePem, giveUp: 1 });
    expect(code).not.toBe(0);
    const line = await server.logged(({ kind }) => kind === 'tls');
    expect(line['text']).toContain('does not trust our certificate');
  });

  test('that comes before anything is rendered waits, and has its configuration as soon as it is', async () => {
    using early = makeLab();
    const path = 'rendered/machine-pools/master.yaml';
    const pool = readFileSync(early.at(path), 'utf8');
    rmSync(early.at('rendered/machine-pools'), { recursive: true });
    const late = await startServer(early);
    try {
      const health = await ask(early, late, '/healthz');
      expect(health).toMatchObject({ status: 503, headers: { 'retry-after': '1' } });
      const waiting = fetchWithIgnition({ token: tokens.master, caPem: early.rootCa.certificatePem, port: late.port });
      await late.logged((line) => line['reason'] === 'pool-not-ready');
      early.write(path, pool);
      const { code, output } = await waiting;
      expect(code, output).toBe(0);
      expect(output).toContain('Service Unavailable');
    } finally {
      expect(await late.stop()).toBe(0);
    }
  });
});

describe('what curl asks for', () => {
  test.each(['3.0.0', '3.1.0', '3.2.0', '3.3.0', '3.4.0', '3.5.0'])(
    'in spec %s it gets, and Ignition finds it valid',
    (version) => {
      const accept = `Accept: application/vnd.coreos.ignition+json;version=${version}, */*;q=0.1`;
      const { out } = curl('/config/worker', ['-H', accept, '-H', `Authorization: Bearer ${tokens.worker}`]);
      expect((JSON.parse(out) as IgnitionConfig).ignition.version).toBe(version);
      const verdict = spawnSync(oracleProgram('ignition-validate'), ['-'], { input: out, encoding: 'utf8' });
      expect(verdict.status, `${verdict.stdout}${verdict.stderr}`).toBe(0);
    },
  );

  test('without a word about specs it gets the newest; HEAD tells the length of it', () => {
    const authorization = ['-H', `Authorization: Bearer ${tokens.worker}`];
    const { out } = curl('/config/worker', authorization);
    expect((JSON.parse(out) as IgnitionConfig).ignition.version).toBe('3.5.0');
    const head = curl('/config/worker', ['-I', ...authorization]).out;
    expect(head).toMatch(/^HTTP\/1\.1 200/);
    expect(head.toLowerCase()).toContain(`content-length: ${Buffer.byteLength(out)}`);
  });

  test('with 8 kB of garbage it is served, with more than 16 kB it is told that this is too much', async () => {
    const accept = (bytes: number): string[] => ['-H', `Accept: ${'a;q=/,version=3 '.repeat(bytes / 16)}`];
    const authorization = ['-H', `Authorization: Bearer ${tokens.worker}`];
    expect(JSON.parse(curl('/config/worker', [...accept(8_192), ...authorization]).out)).toBeDefined();
    // The answer and the end of the connection may arrive together, and curl then tells only of the latter.
    const { out } = curl('/config/worker', [
      '-o',
      '/dev/null',
      '-w',
      '%{http_code}',
      ...accept(20_480),
      ...authorization,
    ]);
    expect(out).toMatch(/^431|reset by peer/);
    await server.logged((line) => line['code'] === 'HPE_HEADER_OVERFLOW');
  });

  test('by any way around the paths it gets nothing', () => {
    const outside = [
      '/etc/passwd',
      '/config/../tls/etcd-signer.key',
      '/config/%2e%2e%2ftls/etcd-signer.key',
      '/config/..%00',
    ];
    for (const path of outside) {
      const { out } = curl(path, ['--path-as-is', '-H', `Authorization: Bearer ${tokens.master}`]);
      expect(JSON.parse(out)).toMatchObject({ code: path.startsWith('/config/') ? 'token-refused' : 'not-found' });
    }
  });

  test('with a body it is answered without the body being read', () => {
    const args = [
      '-X',
      'POST',
      '--data-binary',
      `@${process.execPath}`,
      '-H',
      'Expect:',
      '-o',
      '/dev/null',
      '-w',
      '%{http_code}',
    ];
    // Every time: a connection that is closed on what was not read takes the answer with it, one time in eight.
    for (let time = 0; time < 8; time += 1) expect(curl('/healthz', args).out).toMatch(/^405/);
  });
});

describe('the keys of a master', () => {
  test('are given once for the token of a served configuration', async () => {
    const { config } = await fetchWithIgnition({ token: tokens.master });
    const token = /token: ([a-z0-9.]+)/.exec(fileAt(config, servedPaths.bootstrapKubeconfig))?.[1] ?? '';
    const redeem = (redemption: string) =>
      ask(lab, server, '/keys/master', { headers: { ...bearer(token).headers, 'idempotency-key': redemption } });
    const first = await redeem('the-first-machine');
    expect(first.status).toBe(200);
    const { files } = masterKeysSchema.parse(JSON.parse(first.body));
    expect(Object.keys(files)).toEqual(masterKeyFiles);
    for (const name of masterKeyFiles) expect(files[name]).toBe(readFileSync(lab.at(`tls/${name}`), 'utf8'));
    expect((await redeem('the-first-machine')).body).toBe(first.body);
    expect((await redeem('another-machine-now')).status).toBe(511);
    expect(readLedger(lab).filter(({ kind }) => kind === 'keys-given')).toHaveLength(1);
    expect(server.logText()).not.toContain('PRIVATE KEY');
  });
});

describe('what may be seen from the machine itself', () => {
  test('metrics tell every answer, health what is missing', async () => {
    const answer = await fetch(`http://127.0.0.1:${server.localPort}/metrics`);
    const text = await answer.text();
    expect(text).toMatch(
      /firstlight_config_server_answers_total\{route="config",pool="master",status="200",reason="served"\} \d+/,
    );
    expect(text).toMatch(/reason="token-refused"\} \d+/);
    expect(text).toContain('firstlight_config_server_healthy 1');
    expect(await (await fetch(`http://127.0.0.1:${server.localPort}/healthz`)).json()).toEqual({
      status: 'ok',
      missing: [],
    });
    // Nothing of it on the port that machines reach.
    expect((await ask(lab, server, '/metrics')).status).toBe(404);
  });
});
