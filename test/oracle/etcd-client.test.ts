// The client against the real etcd: what it asks is understood, what it answers is what etcdctl says, and every refusal
// of the table is called by its name.
import { execFileSync } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isError } from '../../src/errors/firstlight-error.ts';
import { type Answer, type EtcdClient, etcdClients, valueOfAnswer } from '../../src/etcd/client.ts';
import { readDataFolder } from '../../src/etcd/data-folder.ts';
import { etcdErrors } from '../../src/etcd/errors.ts';
import type { MemberId } from '../../src/etcd/member.ts';
import { realHost } from '../../src/host/real/real-host.ts';
import { type EtcdLab, etcdLab, until } from './etcd-lab.ts';
import { oracleProgram } from './programs.ts';

let lab: EtcdLab;
let etcd: EtcdClient;
beforeAll(async () => {
  lab = await etcdLab(1);
  await lab.startBootstrap();
  etcd = lab.clients.at(lab.bootstrap.clientUrl);
});
afterAll(() => lab[Symbol.asyncDispose]());

const outcomeOf = (answer: Answer<unknown>): string => (answer.status === 'ok' ? 'ok' : answer.outcome);

interface CtlStatus {
  readonly Status: {
    readonly header: { readonly cluster_id: number; readonly member_id: number; readonly revision: number };
    readonly raftIndex: number;
    readonly version: string;
  };
}

describe('a single member', () => {
  test('has the ids, the version and the revision that etcdctl reports', async () => {
    const hex = lab.etcdctl(lab.bootstrap, 'member', 'list', '--hex', '-w', 'json');
    const [, id] = /"ID":\s*"?([0-9a-f]+)/.exec(hex)!;
    const [, cluster] = /"cluster_id":\s*"?([0-9a-f]+)/.exec(hex)!;
    const status = valueOfAnswer(await etcd.status());
    expect([status.id, status.clusterId, status.leader]).toEqual([id, cluster, id]);
    const [said] = JSON.parse(lab.etcdctl(lab.bootstrap, 'endpoint', 'status', '-w', 'json')) as readonly [CtlStatus];
    expect(status.version).toBe(said.Status.version);
    expect(status.revision).toBe(said.Status.header.revision);
    expect(status.alarms).toEqual([]);
    const list = valueOfAnswer(await etcd.memberList({ isLinearizable: true }));
    expect(list).toMatchObject({ clusterId: cluster, members: [{ id, name: 'bootstrap', isLearner: false }] });
  });

  test('names itself and its cluster on its disk', async () => {
    const status = valueOfAnswer(await etcd.status());
    const found = await readDataFolder(realHost().files, lab.bootstrap.dataFolder);
    expect(found).toEqual({ status: 'present', member: status.id, cluster: status.clusterId });
    expect(await readDataFolder(realHost().files, join(tmpdir(), 'no-such-folder'))).toEqual({ status: 'empty' });
  });

  test('keeps what is put, and a conditional put knows who was first', async () => {
    expect(valueOfAnswer(await etcd.get('colour', { isSerializable: false }))).toBeUndefined();
    expect(valueOfAnswer(await etcd.putIf('colour', 'red', { modRevision: 0 }))).toBe(true);
    expect(valueOfAnswer(await etcd.putIf('colour', 'blue', { modRevision: 0 }))).toBe(false);
    const stored = valueOfAnswer(await etcd.get('colour', { isSerializable: true }))!;
    expect(Buffer.from(stored.value).toString()).toBe('red');
    expect(valueOfAnswer(await etcd.putIf('colour', 'green', { modRevision: stored.modRevision }))).toBe(true);
    expect(lab.etcdctl(lab.bootstrap, 'get', 'colour', '--print-value-only')).toBe('green\n');
    valueOfAnswer(await etcd.put('colour', 'black'));
    expect(lab.etcdctl(lab.bootstrap, 'get', 'colour', '--print-value-only')).toBe('black\n');
  });

  test('gives a snapshot that etcdutl accepts', async () => {
    const path = join(lab.bootstrap.dataFolder, 'snapshot.db');
    await pipeline(Readable.from(etcd.snapshot({ idleMs: 5000 })), createWriteStream(path));
    const text = execFileSync(oracleProgram('etcdutl'), ['snapshot', 'status', path, '-w', 'json'], {
      encoding: 'utf8',
    });
    expect(JSON.parse(text)).toMatchObject({ revision: valueOfAnswer(await etcd.status()).revision });
  });

  test('refuses by the names of the table', async () => {
    const { id } = valueOfAnswer(await etcd.status());
    const stranger = 'abcdef0123456789' as MemberId;
    expect(outcomeOf(await etcd.promote(id))).toBe('not-a-learner');
    expect(outcomeOf(await etcd.promote(stranger))).toBe('member-not-found');
    expect(outcomeOf(await etcd.remove(stranger))).toBe('member-not-found');
    expect(outcomeOf(await etcd.moveLeader(stranger))).toBe('bad-transferee');
    expect(outcomeOf(await etcd.addLearner(lab.bootstrap.peerUrl))).toBe('peer-url-exists');
  });
});

describe('a member that has used up its space', () => {
  test('says so in its status, by member and kind, until the alarm is cleared', async () => {
    await using full = await etcdLab(0);
    await full.startBootstrap('--quota-backend-bytes=8388608');
    const member = full.clients.at(full.bootstrap.clientUrl);
    const block = 'x'.repeat(2 ** 20);
    let outcome = 'ok';
    // The size is looked at only when a batch of writes has been committed.
    for (let count = 0; count < 200 && outcome === 'ok'; count += 1) {
      outcome = outcomeOf(await member.put(`block-${count}`, block));
    }
    expect(outcome).toBe('no-space');
    const { id, alarms } = valueOfAnswer(await member.status());
    expect(alarms).toEqual([{ member: id, kind: 'NOSPACE' }]);
    valueOfAnswer(await member.disarm({ member: id, kind: 'NOSPACE' }));
    expect(valueOfAnswer(await member.status()).alarms).toEqual([]);
  });
});

describe('a learner', () => {
  test('is refused by name as long as it lags, and answers only for itself', async () => {
    const [master] = lab.masters as [EtcdLab['bootstrap']];
    await lab.agentStep(master);
    expect(master.decision).toMatchObject({ kind: 'wait' });
    valueOfAnswer(await etcd.addLearner(master.peerUrl));
    expect(outcomeOf(await etcd.addLearner(master.peerUrl))).toMatch(/peer-url-exists|member-exists/);
    expect(outcomeOf(await etcd.addLearner('https://127.0.0.1:1'))).toBe('too-many-learners');
    const { members } = valueOfAnswer(await etcd.memberList({ isLinearizable: true }));
    const announced = members.find((member) => member.isLearner)!;
    expect(announced).toMatchObject({ name: '', clientUrls: [], peerUrls: [master.peerUrl] });
    expect(outcomeOf(await etcd.promote(announced.id))).toBe('not-in-sync');
    await lab.agentStep(master);
    expect(master.decision).toMatchObject({
      kind: 'join',
      initialCluster: [{ name: 'bootstrap' }, { name: 'master-0' }],
    });
    const joined = lab.clients.at(master.clientUrl);
    await until('the learner answers', async () => (await joined.status()).status === 'ok');
    expect(valueOfAnswer(await joined.status())).toMatchObject({ id: announced.id, isLearner: true });
    expect(outcomeOf(await joined.get('health', { isSerializable: true }))).toBe('ok');
    expect(outcomeOf(await joined.get('health', { isSerializable: false }))).toBe('learner-cannot-serve');
    expect(outcomeOf(await joined.memberList({ isLinearizable: true }))).toBe('learner-cannot-serve');
    expect(outcomeOf(await etcd.moveLeader(announced.id))).toBe('bad-transferee');
    expect(outcomeOf(await joined.moveLeader(announced.id))).toMatch(/not-leader|learner-cannot-serve/);
  });
});

describe('when there is nobody to trust or to talk to', () => {
  test('a closed port is unreachable at once', async () => {
    const startMs = performance.now();
    const answer = await lab.clients.at('https://127.0.0.1:1').status();
    expect(outcomeOf(answer)).toBe('unreachable');
    expect(performance.now() - startMs).toBeLessThan(900);
    expect(() => valueOfAnswer(answer)).toThrow(/did not do Maintenance\/Status: there is no connection/);
  });

  test('a silent port costs the time given and no more, and an abort less', async () => {
    const silent = createServer(() => {}).listen(0, '127.0.0.1');
    await new Promise((resolve) => silent.once('listening', resolve));
    const client = lab.clients.at(`https://127.0.0.1:${(silent.address() as { port: number }).port}`);
    expect(outcomeOf(await client.status({ timeoutMs: 200 }))).toBe('no-answer');
    const signal = AbortSignal.timeout(100);
    await expect(client.status({ timeoutMs: 60_000, signal })).rejects.toBe(
      await new Promise((resolve) => {
        signal.addEventListener('abort', () => resolve(signal.reason), { once: true });
      }),
    );
    silent.close();
  });

  test('a member of another authority is not believed, nor are we by it', async () => {
    await using other = await etcdLab(0);
    using foreign = etcdClients(other.tls, realHost().clock);
    expect(outcomeOf(await foreign.at(lab.bootstrap.clientUrl).status())).toBe('unreachable');
    using half = etcdClients({ ...other.tls, caPem: lab.tls.caPem }, realHost().clock);
    expect(outcomeOf(await half.at(lab.bootstrap.clientUrl).status())).toBe('unreachable');
  });

  test('the address counts, not only the authority', async () => {
    const port = Number(new URL(lab.bootstrap.clientUrl).port);
    const elsewhere = createServer((socket) => void socket.pipe(connect(port, '127.0.0.1')).pipe(socket));
    elsewhere.listen(port, '127.0.0.2');
    await new Promise((resolve) => elsewhere.once('listening', resolve));
    const answer = await lab.clients.at(`https://127.0.0.2:${port}`).status();
    expect(answer).toMatchObject({ outcome: 'unreachable', said: expect.stringContaining('not one for 127.0.0.2') });
    expect(outcomeOf(await lab.clients.at(`https://localhost:${port}`).status())).toBe('ok');
    elsewhere.close();
  });

  test('only an https URL with a port is a member', async () => {
    const error = await lab.clients
      .at('http://127.0.0.1:2379')
      .status()
      .catch((error: unknown) => error);
    expect(isError(error, etcdErrors.BAD_URL)).toBe(true);
  });
});
