// The bootstrap machine of a cluster that is being made, looked into with the documents' own commands, as a person types
// them: over the person's own ssh, as `core`.
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { machinePaths } from '../../../src/platform/local/cluster-folder.ts';
import { cli, list, startCli } from '../machine-lab.ts';

export interface LookedInto {
  /** The asset folder. */
  readonly dir: string;
  /** A scratch folder. */
  readonly folder: string;
  /** The cluster's name on the platform. */
  readonly cluster: string;
}

/** Makes a key of ssh in the folder and gives its public half, for the install-config. */
export function makeSshKey(folder: string): string {
  execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', join(folder, 'id')]);
  return readFileSync(join(folder, 'id.pub'), 'utf8').trim();
}

interface SshOutcome {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

async function sshAs({ dir, folder }: LookedInto): Promise<(target: string, command: string) => SshOutcome> {
  const config = join(folder, 'ssh.config');
  writeFileSync(config, await cli('ssh-config', '--dir', dir));
  return (target, command) => {
    const args = ['-F', config, '-i', join(folder, 'id'), '-o', 'BatchMode=yes', target, command];
    const { status, stdout, stderr } = spawnSync('ssh', args, { encoding: 'utf8', timeout: 60_000 });
    return { code: status, stdout, stderr };
  };
}

/** Every command of the document about the bootstrap's logs, with a word that its answer has. */
const documented: Readonly<Record<string, RegExp>> = {
  'journalctl -b -u bootkube.service': /Starting etcd-bootstrap\.\.\./,
  'journalctl -b -u kubelet.service': /kubelet/,
  'crictl ps':
    /Running +etcd-bootstrap .*Running +kube-apiserver-bootstrap |Running +kube-apiserver-bootstrap .*Running +etcd-bootstrap /s,
  'crictl logs etcd-bootstrap': /"msg":"serving client traffic securely"/,
  'crictl logs $(crictl ps --quiet --name etcd-bootstrap)': /"msg":"serving client traffic securely"/,
  'crictl logs kube-apiserver-bootstrap': /Serving securely|\d{4} \d\d:\d\d:\d\d/,
  'crictl logs machine-config-server': /serving on port 22623/,
  'etcdctl member list': /started, etcd-bootstrap, https:\S+:2380/,
};

export async function lookAsDocumented(looked: LookedInto): Promise<void> {
  const ssh = await sshAs(looked);
  for (const [command, expected] of Object.entries(documented)) {
    const { code, stdout, stderr } = ssh('core@bootstrap', command);
    expect([code, `${stdout}${stderr}`], command).toEqual([0, expect.stringMatching(expected)]);
  }
  // By the address, as the document writes it; and what is no container is said to be none.
  const address = (await list(looked.cluster)).find(({ name }) => name === 'bootstrap')?.address;
  expect(ssh(`core@${address}`, 'hostname').stdout).toBe('bootstrap\n');
  expect(ssh('core@bootstrap', 'crictl logs machine-config-server').stderr).toContain('no container of this machine');
  expect(ssh('core@bootstrap', 'crictl logs nobody')).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/no container nobody; it has:[^]*etcd-bootstrap/) as string,
  });
  const verb = startCli(['ssh', 'bootstrap', '--dir', looked.dir, '-i', join(looked.folder, 'id'), '--', 'exit 7']);
  expect((await verb.outcome).code).toBe(7);
}

/** ssh must not talk to a server that shows another key than the one in the machine's own files. */
export async function refuseOtherHostKey(looked: LookedInto): Promise<void> {
  const ssh = await sshAs(looked);
  const { upper } = machinePaths(looked.cluster, 'bootstrap');
  const paths = ['ed25519', 'ecdsa', 'rsa'].map((kind) => join(upper, `etc/ssh/ssh_host_${kind}_key.pub`));
  const keys = paths.map((path) => readFileSync(path));
  const [foreign = ''] = /^\S+ \S+/.exec(readFileSync(join(looked.folder, 'id.pub'), 'utf8')) ?? [];
  for (const path of paths) writeFileSync(path, `${foreign}\n`);
  const refused = ssh('core@bootstrap', 'true');
  for (const [index, path] of paths.entries()) writeFileSync(path, keys[index] ?? '');
  expect(refused).toMatchObject({
    code: 255,
    stderr: expect.stringContaining('Host key verification failed') as string,
  });
  expect(ssh('core@bootstrap', 'true').code).toBe(0);
}

export async function readLogs({ dir }: LookedInto): Promise<void> {
  const logs = (...args: readonly string[]) =>
    startCli(['machine', 'logs', '--dir', dir, 'bootstrap', ...args]).outcome;
  const [etcd, unit, old, unknown] = await Promise.all([
    logs('-c', 'etcd-bootstrap', '-o', 'json'),
    logs('-u', 'bootkube', '--since', '1h', '-n', '5'),
    logs('-c', 'etcd-bootstrap', '--since', '2100-01-01T00:00:00Z'),
    logs('-c', 'nobody'),
  ]);
  const lines = JSON.parse(etcd.stdout) as readonly { readonly text: string; readonly stream: string }[];
  expect(lines.some(({ text, stream }) => stream === 'stderr' && text.includes('serving client traffic'))).toBe(true);
  expect(unit.stdout).toContain('bootstrap firstlight');
  expect([old.code, old.stdout]).toEqual([0, '']);
  expect(unknown.code).toBe(2);
  expect(unknown.stderr).toMatch(/bootstrap has no container nobody; it has .*\/etcd-bootstrap,/);
}
