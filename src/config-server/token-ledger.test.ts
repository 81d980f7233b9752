import { describe, expect, test } from 'vitest';
import { isBootstrapToken, tokenLifeMs } from '../admission/bootstrap-token.ts';
import { readTokenLedger } from '../contract/served-tokens.ts';
import { Crash, fakeDisk } from '../host/fake/fake-files.ts';
import { fakeHost } from '../host/fake/fake-host.ts';
import type { ServedToken } from './token-issuer.ts';
import { redemptionWindowMs } from './token-issuer.ts';
import { openTokenLedger } from './token-ledger.ts';
import { tokensPerAddress } from './token-quota.ts';

const path = '/opt/firstlight/served/tokens';
const request = { pool: 'master', config: 'rendered-master-1' };
const redemption = 'chosen-by-the-machine';

const limit = 1_000;
const inventory = { isClosed: false, machines: [] };

async function setUp(options: { readonly limit?: number } = {}) {
  const host = fakeHost();
  const ledger = await openTokenLedger(host, { path, limit, inventory, ...options });
  const issue = async (pool = 'master'): Promise<ServedToken> => {
    const issued = await ledger.issue({ ...request, pool });
    if ('status' in issued) throw new Error('refused');
    return issued;
  };
  return { host, ledger, issue };
}

describe('the ledger of served tokens', () => {
  test('has a token on the disk before it is given out', async () => {
    const { host, issue } = await setUp();
    const { id, token } = await issue();
    expect(isBootstrapToken(token)).toBe(true);
    const [{ record } = { record: undefined }] = await readTokenLedger(host.files, path);
    expect(record).toMatchObject({ id, token, pool: 'master', config: 'rendered-master-1' });
    expect(Date.parse(record?.expiresAt ?? '') - Date.parse(record?.issuedAt ?? '')).toBe(tokenLifeMs);
  });

  test('gives no token and no keys away that it could not record, and recovers when the disk has room again', async () => {
    const host = fakeHost();
    const disk = { isFull: false };
    const openAppend: typeof host.files.openAppend = async (file, options) => {
      const handle = await host.files.openAppend(file, options);
      const append = async (content: Uint8Array | string): Promise<void> => {
        if (!disk.isFull) return handle.append(content);
        await handle.append(String(content).slice(0, 20));
        throw new Error('no space left on the disk');
      };
      return { append, [Symbol.asyncDispose]: () => handle[Symbol.asyncDispose]() };
    };
    const ledger = await openTokenLedger({ ...host, files: { ...host.files, openAppend } }, { path, limit, inventory });
    const issued = await ledger.issue(request);
    if ('status' in issued) throw new Error('refused');
    const ask = { pool: 'master', token: issued.token, redemption };
    disk.isFull = true;
    await expect(ledger.issue(request)).rejects.toThrow('no space left');
    await expect(ledger.redeem(ask)).rejects.toThrow('no space left');
    disk.isFull = false;
    expect(await ledger.redeem(ask)).toEqual({ status: 'granted', isRepeated: false });
    expect(await readTokenLedger(host.files, path)).toMatchObject([{ record: { token: issued.token }, keysGiven: {} }]);
  });

  test('writes everything that arrives together in a few writes', async () => {
    const { host, ledger, issue } = await setUp();
    const before = host.disk.changes;
    const records = await Promise.all(Array.from({ length: 200 }, () => issue('worker')));
    expect(new Set(records.map(({ id }) => id)).size).toBe(200);
    expect(host.disk.changes - before).toBeLessThanOrEqual(2);
    expect(ledger.outstanding()).toBe(200);
    expect(await readTokenLedger(host.files, path)).toHaveLength(200);
  });

  test('records for whom a load balancer asked', async () => {
    const { host, ledger } = await setUp();
    await Promise.all(Array.from({ length: 10 }, () => ledger.issue({ ...request, issuedTo: '10.0.0.7' })));
    const entries = await readTokenLedger(host.files, path);
    expect(entries).toHaveLength(10);
    expect(entries.every(({ record }) => record.issuedTo === '10.0.0.7')).toBe(true);
  });

  test('gives one address a few tokens an hour, knows that after a restart, and others are served meanwhile', async () => {
    const { host, ledger } = await setUp();
    const ask = (issuer: typeof ledger, issuedTo: string) => issuer.issue({ ...request, pool: 'worker', issuedTo });
    const asked = await Promise.all(Array.from({ length: 500 }, () => ask(ledger, '10.0.0.21')));
    expect(asked.filter((one) => !('status' in one))).toHaveLength(tokensPerAddress);
    expect(await ask(ledger, '10.0.0.22')).toMatchObject({ token: expect.any(String) });
    const next = await openTokenLedger(host, { path, limit, inventory });
    expect(await ask(next, '10.0.0.21')).toEqual({ status: 'too-many', limit: tokensPerAddress });
    host.clock.advance(tokenLifeMs);
    expect(await ask(next, '10.0.0.21')).toMatchObject({ token: expect.any(String) });
  });

  test('gives keys once per token, and again only to the machine whose answer was lost', async () => {
    const { host, ledger, issue } = await setUp();
    const { token } = await issue();
    const ask = { pool: 'master', token, redemption };
    expect(await ledger.redeem(ask)).toEqual({ status: 'granted', isRepeated: false });
    expect(await ledger.redeem(ask)).toEqual({ status: 'granted', isRepeated: true });
    expect(await ledger.redeem({ ...ask, redemption: 'of-somebody-else' })).toEqual({
      status: 'refused',
      reason: 'already-used',
    });
    host.clock.advance(redemptionWindowMs);
    expect(await ledger.redeem(ask)).toEqual({ status: 'refused', reason: 'already-used' });
  });

  test('knows after a restart to which address a token was issued and to which machine keys were given', async () => {
    const { host, ledger } = await setUp();
    const master = { name: 'master-0', role: 'master', addresses: ['10.0.0.7'] } as const;
    const issued = await ledger.issue({ ...request, issuedTo: '10.0.0.7' });
    if ('status' in issued) throw new Error('refused');
    const closed = { isClosed: true, machines: [{ ...master, addresses: [...master.addresses] }] };
    const next = await openTokenLedger(host, { path, limit, inventory: closed });
    const ask = { pool: 'master', token: issued.token, redemption };
    expect(await next.redeem({ ...ask, address: '10.0.0.8' })).toEqual({ status: 'refused', reason: 'not-listed' });
    expect(await next.redeem({ ...ask, address: '10.0.0.7' })).toMatchObject({
      status: 'granted',
      machine: 'master-0',
    });
    const [entry] = await readTokenLedger(host.files, path);
    expect(entry).toMatchObject({ record: { issuedTo: '10.0.0.7' }, keysGiven: { machine: 'master-0' } });
  });

  test('of two machines with one token at the same moment, one gets the keys', async () => {
    const { ledger, issue } = await setUp();
    const { token } = await issue();
    const verdicts = await Promise.all(
      ['first-machine-here', 'second-machine-here'].map((redemption) =>
        ledger.redeem({ pool: 'master', token, redemption }),
      ),
    );
    expect(verdicts.map(({ status }) => status)).toEqual(['granted', 'refused']);
  });

  test('refuses tokens that it did not issue, that have ended, or that are for another pool', async () => {
    const { host, ledger, issue } = await setUp();
    const master = await issue();
    const worker = await issue('worker');
    const check = (token: string) => ledger.check({ pool: 'master', token, redemption }, () => false);
    expect(await check(worker.token)).toEqual({ status: 'refused', reason: 'other-pool' });
    expect(await check(`${master.id}.0000000000000000`)).toEqual({ status: 'refused', reason: 'unknown' });
    expect(await check('')).toEqual({ status: 'refused', reason: 'unknown' });
    expect(await check('0'.repeat(23))).toEqual({ status: 'refused', reason: 'unknown' });
    host.clock.advance(tokenLifeMs);
    expect(await check(master.token)).toEqual({ status: 'refused', reason: 'expired' });
    expect(ledger.outstanding()).toBe(0);
    expect(await check(master.token)).toEqual({ status: 'refused', reason: 'unknown' });
  });

  test('stops at a limit until tokens have ended', async () => {
    const { host, ledger, issue } = await setUp({ limit: 2 });
    await issue();
    await issue();
    expect(await ledger.issue(request)).toEqual({ status: 'too-many', limit: 2 });
    host.clock.advance(tokenLifeMs);
    expect(await issue()).toMatchObject({ token: expect.any(String) });
  });

  test('killed at any write, the next life knows every token that left and never gives keys twice', async () => {
    for (let crashAt = 1; crashAt <= 9; crashAt += 1) {
      const disk = fakeDisk();
      const left: string[] = [];
      const given: string[] = [];
      const live = async (): Promise<void> => {
        const ledger = await openTokenLedger(fakeHost({ disk, seed: `life ${disk.changes}` }), {
          path,
          limit,
          inventory,
        });
        for (let round = 0; round < 3; round += 1) {
          const issued = await ledger.issue(request);
          if ('status' in issued) throw new Error('refused');
          left.push(issued.token);
          const verdict = await ledger.redeem({ pool: 'master', token: issued.token, redemption });
          if (verdict.status === 'granted') given.push(issued.token);
        }
      };
      disk.crashAt = crashAt;
      await expect(live()).rejects.toBeInstanceOf(Crash);
      delete disk.crashAt;
      const ledger = await openTokenLedger(fakeHost({ disk }), { path, limit, inventory });
      for (const token of left) {
        const stranger = await ledger.check({ pool: 'master', token, redemption: 'of-somebody-else' }, () => false);
        if (given.includes(token)) expect(stranger).toEqual({ status: 'refused', reason: 'already-used' });
        else expect(stranger.status === 'granted' || stranger.reason === 'already-used').toBe(true);
      }
      await live();
    }
  });

  test('an altered line is not read over', async () => {
    const { host, issue } = await setUp();
    await issue();
    const text = await host.files.readText(path);
    await host.files.write(path, `not ours\n${text}`);
    await expect(openTokenLedger(host, { path, limit, inventory })).rejects.toMatchObject({
      code: 'CONFIGSERVER_LEDGER',
      details: { line: 1 },
    });
  });
});
