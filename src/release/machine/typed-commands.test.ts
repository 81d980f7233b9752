// The scripts themselves, run by the shell, with programs of the test in the place of upstream's.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { upstreamProgramFolder } from '../../contract/machine-paths.ts';
import { typedCommands } from './typed-commands.ts';

const folder = mkdtempSync(join(tmpdir(), 'firstlight-typed-'));
afterAll(() => rmSync(folder, { recursive: true }));

function program(name: string, script: string): void {
  writeFileSync(join(folder, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
}

program('id', 'echo 0');
program('systemctl', '[ "$2" = machine-config-server.service ]');
program('journalctl', 'echo journalctl "$@"');
program(
  'crictl',
  'case "$*" in *"^etcd-bootstrap$"*) echo 0abc ;; *--name*) ;; "ps --all") echo etcd-bootstrap ;; *) echo crictl "$@" ;; esac',
);
program('etcdctl', 'echo "$ETCDCTL_ENDPOINTS $ETCDCTL_CACERT $ETCDCTL_CERT" "$@"');

function run(name: string, args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const { script = '' } = typedCommands.find((command) => command.name === name) ?? {};
  const path = join(folder, `${name}.script`);
  writeFileSync(path, script.replaceAll(upstreamProgramFolder, folder), { mode: 0o755 });
  const variables = { PATH: `${folder}:${process.env['PATH']}`, ...env };
  const { status, stdout, stderr } = spawnSync(path, args, { encoding: 'utf8', env: variables });
  return { code: status, stdout: stdout.trim(), stderr };
}

describe('crictl', () => {
  test.each([
    [['ps', '-a']],
    [['logs', '--tail', '5', '0abcdef']],
    [['logs', '--help']],
    [['exec', 'etcd-bootstrap', 'logs', 'nobody']],
    [['--timeout', '5s', 'exec', '0abc', 'logs', 'nobody']],
    [['--runtime-endpoint=unix:///x.sock', '--timeout=16000ms', 'stop', '--timeout=15', '0abc']],
  ])('%j is upstream’s alone', (args) => {
    expect(run('crictl', args)).toMatchObject({ code: 0, stdout: `crictl ${args.join(' ')}` });
  });

  test('takes the name of a container for its logs, and keeps every other word', () => {
    const args = ['--timeout', '5s', 'logs', '--since', '5 m', 'etcd-bootstrap'];
    expect(run('crictl', args).stdout).toBe('crictl --timeout 5s logs --since 5 m 0abc');
  });

  test('shows the journal of a unit where no container has the name, and says so', () => {
    const { code, stdout, stderr } = run('crictl', ['logs', '-f', 'machine-config-server']);
    expect([code, stdout]).toEqual([
      0,
      'journalctl --boot --no-pager --output=cat --unit=machine-config-server.service --follow',
    ]);
    expect(stderr).toContain('is no container of this machine but a unit');
  });

  test('lists what is there where nothing has the name', () => {
    const { code, stderr } = run('crictl', ['logs', 'nobody']);
    expect([code, stderr]).toEqual([1, 'crictl: this machine has no container nobody; it has:\netcd-bootstrap\n']);
  });
});

describe('etcdctl', () => {
  const pki = '/etc/kubernetes/pki';

  test('is a client of the member on this machine', () => {
    expect(run('etcdctl', ['member', 'list']).stdout).toBe(
      `https://127.0.0.1:2379 ${pki}/etcd-ca.crt ${pki}/etcd-membership-client.crt member list`,
    );
  });

  test('is told by its caller first, by flag or by variable: it refuses both at once', () => {
    const args = ['--endpoints', 'https://a:1', '--cacert=/ca', 'get', 'x'];
    expect(run('etcdctl', args, { ETCDCTL_CERT: '/mine' }).stdout).toBe(`  /mine ${args.join(' ')}`.trim());
  });
});
