import { describe, expect, test } from 'vitest';
import { fixedSource, servedPool } from '../../test/config-server-sample.ts';
import { digestToken } from '../admission/bootstrap-token.ts';
import type { Inventory } from '../contract/inventory.ts';
import {
  encryptionConfigurationText,
  newEncryptionKey,
  secretsEncryptionFile,
} from '../contract/secrets-encryption.ts';
import { masterKeyFiles, masterKeysSchema } from '../control-plane/master-keys.ts';
import { fakeHost } from '../host/fake/fake-host.ts';
import type { ServerRequest } from '../host/https-server.ts';
import { issueLeaf, issueSigner } from '../pki/issue.ts';
import type { ServedPool, SourceWaiting } from './config-source.ts';
import { type AccessMode, createHandler, type Handled } from './handler.ts';
import { openTokenLedger } from './token-ledger.ts';

const keysFolder = '/pki';
const far = '2027-01-01T00:00:00.000Z';
const past = '2025-01-01T00:00:00.000Z';
const digest = (token: string, notAfter = far) => ({ sha256: digestToken(token), notAfter });

const inventory = {
  isClosed: true,
  machines: [
    { name: 'master-0', role: 'master', addresses: ['10.0.0.9'] },
    { name: 'master-1', role: 'master', addresses: ['10.0.0.10'] },
    { name: 'worker-0', role: 'worker', addresses: ['10.0.0.21'] },
  ],
} satisfies Inventory;

async function setUp(access: AccessMode = 'token', knowsAddresses = true) {
  const host = fakeHost();
  const issuer = await openTokenLedger(host, { path: '/served/tokens', limit: 100, inventory });
  const master = servedPool('master');
  const source = fixedSource({
    pools: new Map<string, ServedPool | SourceWaiting>([
      ['master', master],
      ['worker', servedPool('worker')],
      ['slow', { status: 'waiting', missing: 'it is not rendered' }],
    ]),
    poolTokens: {
      master: [digest('flp_master-new'), digest('flp_master-old'), digest('flp_ended', past)],
      worker: [digest('flp_worker')],
      slow: [digest('flp_slow')],
    },
  });
  const health: string[] = [];
  const handler = createHandler({
    access,
    source,
    issuer,
    clock: host.clock,
    files: host.files,
    knowsAddresses,
    lookUps: { take: () => true },
    keysFolder,
    unhealthy: () => health,
  });
  const ask = async (target: string, given: Partial<Omit<ServerRequest, 'target'>> = {}): Promise<Handled> =>
    handler({ method: 'GET', headers: {}, peer: { address: '10.0.0.9', from: 'connection' }, ...given, target });
  const as = (token: string, more: Record<string, string> = {}) => ({
    headers: { authorization: `Bearer ${token}`, ...more },
  });
  return { host, issuer, ask, as, health };
}

async function writeKeys({ host }: Awaited<ReturnType<typeof setUp>>): Promise<void> {
  await host.files.makeFolder(keysFolder);
  const options = { random: host.random, now: host.clock.now() };
  const subject = { commonName: 'x', organizations: [] };
  const ca = issueSigner({ subject, validityDays: 10 }, options);
  const contents = { subject, dnsNames: [], ipAddresses: [], purpose: 'server', validityDays: 5 } as const;
  const leaf = issueLeaf(contents, ca, options);
  for (const name of masterKeyFiles) {
    const content = name.endsWith('.key') ? leaf.key.privatePem.reveal() : leaf.certificatePem;
    await host.files.write(`${keysFolder}/${name}`, content);
  }
  const encryption = encryptionConfigurationText([newEncryptionKey(host.random, host.clock.now())]);
  await host.files.write(`${keysFolder}/${secretsEncryptionFile}`, encryption);
}

const body = ({ answer }: Handled): string => Buffer.from(answer.body).toString('utf8');
const tokenIn = (handled: Handled): string => /token%3A%20([a-z0-9]{6}\.[a-z0-9]{16})/.exec(body(handled))?.[1] ?? '';

describe('who is let in', () => {
  test('whoever has no token for what is asked gets the same bytes everywhere', async () => {
    const { ask, as } = await setUp();
    const strangers = [
      await ask('/config/master'),
      await ask('/config/master', as('flp_wrong')),
      await ask('/config/master', as('flp_ended')),
      await ask('/config/master', as('flp_worker')),
      await ask('/config/worker', as('flp_master-new')),
      await ask('/config/nothing-of-the-kind', as('flp_master-new')),
      await ask('/config/../../etc/passwd', as('flp_master-new')),
      await ask('/config/%2e%2e/master', as('flp_master-new')),
      await ask('/config/', as('flp_master-new')),
      await ask('/config/master/', as('flp_master-new')),
      await ask('/config/master?x', as('flp_master-new')),
      await ask('/config/__proto__', as('flp_master-new')),
      await ask('/config/master', { method: 'POST' }),
      await ask('/config/master', { headers: { authorization: 'Basic eDp5' } }),
      await ask('/config/master', { headers: { authorization: `Bearer ${'x'.repeat(300)}` } }),
      await ask('/keys/master'),
      await ask('/keys/master', as('flp_master-new')),
      await ask('/keys/master', as('abc123.0123456789abcdef', { 'idempotency-key': 'of-a-stranger-here' })),
      await ask('/keys/../config/master', { method: 'DELETE' }),
    ];
    for (const { answer, decision } of strangers) {
      expect(answer).toEqual(strangers[0]?.answer);
      expect(decision.reason).toBe('token-refused');
    }
    expect(strangers[0]?.answer.status).toBeGreaterThanOrEqual(500);
    const details = strangers.slice(0, 5).map(({ decision }) => decision.detail);
    expect(details).toEqual(['missing', 'unknown', 'expired', 'other-pool', 'other-pool']);
  });

  test('during a rotation both tokens are good', async () => {
    const { ask, as } = await setUp();
    for (const token of ['flp_master-new', 'flp_master-old']) {
      expect((await ask('/config/master', as(token))).answer.status).toBe(200);
    }
  });

  test('open, everybody is served but nobody gets keys, and a pool that may still come is waited for', async () => {
    const { ask } = await setUp('open');
    expect((await ask('/config/master')).answer.status).toBe(200);
    expect((await ask('/config/later')).answer.status).toBe(503);
    expect((await ask('/config/Not_A_Name')).answer.status).toBe(404);
    expect((await ask('/keys/master')).answer.status).toBe(404);
  });
});

describe('a configuration', () => {
  test('is served with a token of its own each time, recorded under its public half', async () => {
    const { ask, as, issuer } = await setUp();
    const answers = [
      await ask('/config/master', as('flp_master-new')),
      await ask('/config/master', as('flp_master-new')),
    ];
    const served = answers.map(tokenIn);
    expect(new Set(served).size).toBe(2);
    expect(answers.map(({ decision }) => decision.tokenId)).toEqual(served.map((token) => token.slice(0, 6)));
    expect(issuer.outstanding()).toBe(2);
    expect(JSON.stringify(answers.map(({ decision }) => decision))).not.toContain(served[0]);
  });

  test('the address of a machine is recorded, told by a load balancer or its own, where load balancers are declared', async () => {
    for (const [knowsAddresses, recorded] of [
      [true, ['10.0.0.9', '10.0.0.7']],
      [false, [undefined, undefined]],
    ] as const) {
      const { host, ask, as } = await setUp('token', knowsAddresses);
      await ask('/config/worker', as('flp_worker'));
      await ask('/config/worker', { ...as('flp_worker'), peer: { address: '10.0.0.7', from: 'balancer' } });
      const lines = (await host.files.readText('/served/tokens')).trim().split('\n');
      expect(lines.map((line) => (JSON.parse(line) as { issuedTo?: string }).issuedTo)).toEqual(recorded);
    }
  });

  test('HEAD tells the same length, sends no token and records none', async () => {
    const { ask, as, issuer } = await setUp();
    const head = await ask('/config/master', { method: 'HEAD', ...as('flp_master-new') });
    expect(issuer.outstanding()).toBe(0);
    const get = await ask('/config/master', as('flp_master-new'));
    expect(head.answer.headers).toEqual(get.answer.headers);
    expect(head.answer.body.length).toBe(get.answer.body.length);
  });

  test('is answered in the spec that was asked for, and 400 only for what will never be spoken', async () => {
    const { ask, as } = await setUp();
    const accept = (version: string) => ({ accept: `application/vnd.coreos.ignition+json;version=${version}` });
    const served = await ask('/config/master', as('flp_master-new', accept('3.1.0')));
    expect(body(served)).toMatch(/^\{"ignition":\{"version":"3\.1\.0"/);
    for (const version of ['2.2.0', '4.0.0']) {
      const { answer } = await ask('/config/master', as('flp_master-new', accept(version)));
      expect(answer.status).toBe(400);
      expect(answer.headers['x-mcs-reason']).toBe('spec-unsupported');
    }
  });

  test('that is not there yet is 503 with the time to come again and what is missing', async () => {
    const { ask, as } = await setUp();
    const handled = await ask('/config/slow', as('flp_slow'));
    expect(handled.answer).toMatchObject({
      status: 503,
      headers: { 'retry-after': '1', 'x-mcs-reason': 'pool-not-ready' },
    });
    expect(JSON.parse(body(handled))).toMatchObject({ code: 'pool-not-ready' });
    expect(body(handled)).toContain('it is not rendered');
  });

  test('is the named one of the pool where a machine names it, and none where the pool has no such one', async () => {
    const { ask, as } = await setUp();
    const of = (pool: string, config: string) => as('flp_worker', { nodepool: pool, targetconfigversionhash: config });
    for (const pool of ['worker', 'clusters/worker']) {
      const { decision } = await ask('/config/worker', of(pool, 'rendered-worker-1'));
      expect(decision).toMatchObject({ reason: 'served', config: 'rendered-worker-1' });
    }
    const other = await ask('/config/worker', of('worker', 'rendered-master-1'));
    expect([other.answer.status, other.decision.reason]).toEqual([404, 'target-unknown']);
    const mismatch = await ask('/config/worker', of('master', 'rendered-worker-1'));
    expect([mismatch.answer.status, mismatch.decision.reason]).toEqual([400, 'target-mismatch']);
    const slow = await ask('/config/slow', as('flp_slow', { targetconfigversionhash: 'rendered-slow-1' }));
    expect([slow.answer.status, slow.decision.reason]).toEqual([503, 'pool-not-ready']);
  });

  test('is given for the base64 of a token too', async () => {
    const { ask, as } = await setUp();
    expect((await ask('/config/worker', as(btoa('flp_worker')))).answer.status).toBe(200);
    expect((await ask('/config/worker', as(btoa('flp_wrong')))).answer.status).toBe(511);
  });

  test('is only for reading', async () => {
    const { ask, as } = await setUp();
    const { answer } = await ask('/config/master', { method: 'PUT', ...as('flp_master-new') });
    expect(answer).toMatchObject({ status: 405, headers: { allow: 'GET, HEAD' } });
  });
});

describe('the keys of a master', () => {
  const redemption = { 'idempotency-key': 'chosen-by-the-master' };

  async function served(given: Awaited<ReturnType<typeof setUp>>, pool = 'master'): Promise<string> {
    const token = pool === 'master' ? 'flp_master-new' : `flp_${pool}`;
    return tokenIn(await given.ask(`/config/${pool}`, given.as(token)));
  }

  test('are given for the token of a served config, and again to the same machine, but to nobody else', async () => {
    const given = await setUp();
    await writeKeys(given);
    const token = await served(given);
    const first = await given.ask('/keys/master', given.as(token, redemption));
    expect(first.answer.status).toBe(200);
    expect(Object.keys(masterKeysSchema.parse(JSON.parse(body(first))).files)).toEqual(masterKeyFiles);
    const again = await given.ask('/keys/master', given.as(token, redemption));
    expect(again.answer).toEqual(first.answer);
    expect(again.decision.detail).toContain('repeated');
    const thief = await given.ask('/keys/master', given.as(token, { 'idempotency-key': 'chosen-by-a-thief' }));
    expect(thief.answer.status).toBe(511);
    expect(thief.decision.detail).toBe('already-used');
  });

  test('are given only at the address that the token was issued to, and only to a listed master', async () => {
    const given = await setUp();
    await writeKeys(given);
    const from = (address: string) => ({ peer: { address, from: 'balancer' } as const });
    const token = await served(given);
    const elsewhere = await given.ask('/keys/master', { ...given.as(token, redemption), ...from('10.0.0.10') });
    expect(elsewhere.decision.detail).toBe('other-address');
    const foreign = await given.ask('/config/master', { ...given.as('flp_master-new'), ...from('10.0.0.21') });
    const unlisted = await given.ask('/keys/master', {
      ...given.as(tokenIn(foreign), redemption),
      ...from('10.0.0.21'),
    });
    expect(unlisted.decision.detail).toBe('not-listed');
    expect([elsewhere, unlisted].map(({ answer }) => answer.status)).toEqual([511, 511]);
    const own = await given.ask('/keys/master', given.as(token, redemption));
    expect(own.decision).toMatchObject({ reason: 'served', machine: 'master-0' });
  });

  test('are not given for the token of a worker', async () => {
    const given = await setUp();
    await writeKeys(given);
    const handled = await given.ask('/keys/master', given.as(await served(given, 'worker'), redemption));
    expect(handled.answer.status).toBe(511);
  });

  test('that cannot be read do not cost the token', async () => {
    const given = await setUp();
    const token = await served(given);
    const waiting = await given.ask('/keys/master', given.as(token, redemption));
    expect(waiting.answer).toMatchObject({ status: 503, headers: { 'x-mcs-reason': 'keys-not-ready' } });
    await writeKeys(given);
    expect((await given.ask('/keys/master', given.as(token, redemption))).answer.status).toBe(200);
  });

  test('are not given as long as a pair does not belong together', async () => {
    const given = await setUp();
    await writeKeys(given);
    const { host } = given;
    const other = issueSigner(
      { subject: { commonName: 'y', organizations: [] }, validityDays: 1 },
      { random: host.random, now: host.clock.now() },
    );
    await host.files.write(`${keysFolder}/etcd-signer.crt`, other.certificatePem);
    const handled = await given.ask('/keys/master', given.as(await served(given), redemption));
    expect(handled.answer.status).toBe(503);
    expect(handled.decision.detail).toContain('the key belongs to another certificate');
  });

  test('are not given as long as the keys that encrypt Secrets cannot be read: a master without them reads none', async () => {
    const given = await setUp();
    await writeKeys(given);
    await given.host.files.write(`${keysFolder}/${secretsEncryptionFile}`, '{"kind":"EncryptionConfiguration"}');
    const handled = await given.ask('/keys/master', given.as(await served(given), redemption));
    expect(handled.answer.status).toBe(503);
    expect(handled.decision.detail).toContain('/pki/secrets-encryption.json: it is no list of encryption keys');
  });

  test('need a redemption that the machine has chosen', async () => {
    const given = await setUp();
    await writeKeys(given);
    const token = await served(given);
    expect((await given.ask('/keys/master', given.as(token))).answer.status).toBe(400);
    expect((await given.ask('/keys/master', { method: 'HEAD', ...given.as(token, redemption) })).answer.status).toBe(
      405,
    );
    expect((await given.ask('/keys/master', given.as(token, redemption))).answer.status).toBe(200);
  });
});

describe('everything else', () => {
  test('health is what it is, and tells strangers no more than that', async () => {
    const { ask, health } = await setUp();
    expect((await ask('/healthz')).answer.status).toBe(200);
    health.push('/opt/firstlight/secret is missing');
    const handled = await ask('/healthz');
    expect(handled.answer.status).toBe(503);
    expect(body(handled)).not.toContain('/opt/firstlight');
    expect(handled.decision.detail).toContain('/opt/firstlight');
    expect((await ask('/healthz', { method: 'POST' })).answer.status).toBe(405);
  });

  test.each([
    '/',
    '/config',
    '/keys',
    '/metrics',
    '/v1/payload',
    '//config/master',
    'https://x/config/master',
    '*',
    '',
  ])('there is nothing at %j', async (target) => {
    const { ask } = await setUp();
    expect((await ask(target)).answer.status).toBe(404);
  });
});
