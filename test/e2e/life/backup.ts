// A backup of a cluster that stands: taken, judged by etcdutl and tar, and refused by restore wherever it must not be
// used. The restore itself is in test/e2e/fire/disaster-recovery.test.ts.
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { oracleProgram } from '../../oracle/programs.ts';
import { masters } from '../fire/fire-cluster.ts';
import { isLong } from '../fire/long.ts';
import { type CliOutcome, cli, eventually, startCli } from '../machine-lab.ts';
import { type TrustCluster, trustKubectl } from '../trust/trust-cluster.ts';

interface Told {
  readonly file: string;
  readonly etcd: { readonly member: string; readonly hasMajority: boolean; readonly revision: number };
  readonly cluster: { readonly infraId: string };
}

export function backupTopic(cluster: TrustCluster): void {
  const file = join(cluster.folder, 'cluster.tar.gz');
  const opened = join(cluster.folder, 'opened-backup');
  const restore = (from: string, ...more: readonly string[]): Promise<CliOutcome> =>
    startCli(['restore', '--from', from, '--dir', cluster.dir, ...more]).outcome;

  test('it is one file for its owner alone, and etcdutl reads a snapshot of this revision in it', async () => {
    await trustKubectl(cluster, 'create', 'secret', 'generic', 'in-backup', '--from-literal=word=open-sesame');
    const told = JSON.parse(await cli('backup', '--dir', cluster.dir, '--to', file, '-o', 'json')) as Told;
    expect(told).toMatchObject({ file, cluster: { infraId: cluster.infraId() }, etcd: { hasMajority: true } });
    expect(masters).toContain(told.etcd.member);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    mkdirSync(opened);
    execFileSync('tar', ['-xzf', file, '-C', opened]);
    const status = execFileSync(oracleProgram('etcdutl'), [
      'snapshot',
      'status',
      join(opened, 'snapshot.db'),
      '-w',
      'json',
    ]);
    expect(JSON.parse(status.toString('utf8'))).toMatchObject({ revision: told.etcd.revision });
  });

  test('nothing secret is in it in clear: no Secret, no key that opens one, no key of a signer', () => {
    const content = Buffer.concat(readdirSync(opened).map((name) => readFileSync(join(opened, name))));
    expect(content.includes('in-backup')).toBe(true);
    expect(content.includes('open-sesame')).toBe(false);
    const keys = readFileSync(join(cluster.dir, 'tls/secrets-encryption.json'), 'utf8').matchAll(
      /"secret": "([^"]+)"/g,
    );
    for (const [, key = ''] of keys) {
      expect(content.includes(key)).toBe(false);
      expect(content.includes(Buffer.from(key, 'base64'))).toBe(false);
    }
    for (const name of readdirSync(join(cluster.dir, 'tls')).filter((each) => each.endsWith('.key'))) {
      const [, firstLine = ''] = readFileSync(join(cluster.dir, 'tls', name), 'utf8').split('\n');
      expect(firstLine.length, name).toBeGreaterThan(40);
      expect(content.includes(firstLine), name).toBe(false);
    }
  });

  test('what was on the master for it is gone, and no backup takes the place of another', async () => {
    for (const master of masters) {
      const left = await cli(
        'machine',
        'exec',
        '--cluster',
        cluster.infraId(),
        master,
        '--',
        'ls',
        '/var/lib/firstlight',
      );
      expect(left).not.toContain('etcd-backup');
    }
    const { code, stderr } = await startCli(['backup', '--dir', cluster.dir, '--to', file]).outcome;
    expect(code).toBe(2);
    expect(stderr).toContain('RECOVERY_FILE_EXISTS');
  });

  // Minutes: two masters go down at once and come back.
  test.runIf(isLong)('one living member is enough, and the backup says that there was no majority', async () => {
    const others = masters.slice(1);
    const alone = join(cluster.folder, 'alone.tar.gz');
    await cli('machine', 'stop', '--cluster', cluster.infraId(), ...others);
    try {
      // The last member knows that it is alone when its election timeout is over.
      const told = await eventually('a backup without a majority', 60, async () => {
        rmSync(alone, { force: true });
        const seen = JSON.parse(await cli('backup', '--dir', cluster.dir, '--to', alone, '-o', 'json')) as Told;
        return seen.etcd.hasMajority ? undefined : seen;
      });
      expect(told.etcd.member).toBe(masters[0]);
    } finally {
      await cli('machine', 'start', '--cluster', cluster.infraId(), ...others);
    }
    await cli('wait-for', 'install-complete', '--dir', cluster.dir);
  });

  test('restore refuses while masters live, and changes nothing', async () => {
    const { code, stderr } = await restore(file);
    expect(code).toBe(2);
    expect(stderr).toContain('RECOVERY_MASTERS_LIVE');
    expect(stderr).toContain('--replace-masters');
  });

  test('restore refuses a damaged file and one of another cluster, also when masters may be replaced', async () => {
    const whole = readFileSync(file);
    const damaged = join(cluster.folder, 'damaged.tar.gz');
    const altered = Buffer.from(whole);
    const middle = Math.floor(altered.length / 2);
    altered[middle] = (altered[middle] ?? 0) ^ 1;
    writeFileSync(damaged, altered);
    expect(await restore(damaged, '--replace-masters')).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('RECOVERY_DAMAGED') as string,
    });
    const other = join(cluster.folder, 'other');
    cpSync(cluster.dir, other, { recursive: true });
    const metadata = join(other, 'metadata.json');
    const id = '11111111-1111-4111-8111-111111111111';
    writeFileSync(metadata, readFileSync(metadata, 'utf8').replace(/"clusterID": "[^"]+"/, `"clusterID": "${id}"`));
    const refused = await startCli(['restore', '--from', file, '--dir', other, '--replace-masters']).outcome;
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('RECOVERY_OTHER_CLUSTER') as string });
    rmSync(other, { recursive: true });
    expect(existsSync(join(cluster.dir, '.firstlight/restore-journal'))).toBe(false);
    await trustKubectl(cluster, 'delete', 'secret', 'in-backup');
  });
}
