// People who get a kubeconfig with a certificate that the cluster signs, and what is never signed for them.
import { execFileSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { cli, eventually, startCli } from '../machine-lab.ts';
import { type TrustCluster, trustKubectl, trustKubectlJson } from './trust-cluster.ts';

const signerName = 'kubernetes.io/kube-apiserver-client';

interface RequestStatus {
  readonly status: {
    readonly certificate?: string;
    readonly conditions?: readonly { readonly type: string; readonly message?: string }[];
  };
}

export function peopleTopic(cluster: TrustCluster): void {
  const file = join(cluster.folder, 'ada.kubeconfig');
  const requests: string[] = [];

  afterAll(async () => {
    rmSync(file, { force: true });
    if (requests.length > 0) await trustKubectl(cluster, 'delete', 'csr', ...requests);
    await startCli(['kubectl', '--dir', cluster.dir, 'delete', 'clusterrolebinding', 'developers']).outcome;
  });

  test('kubeconfig create makes a kubeconfig by which its person is who they are, for as long as was asked', async () => {
    const made = JSON.parse(
      await cli(
        'kubeconfig',
        'create',
        'ada',
        '--group',
        'developers',
        '--expires',
        '8h',
        '--to',
        file,
        '--dir',
        cluster.dir,
        '-o',
        'json',
      ),
    ) as { readonly request: string };
    requests.push(made.request);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const asAda = ['kubectl', '--dir', cluster.dir, '--kubeconfig', file];
    const who = JSON.parse(await cli(...asAda, 'auth', 'whoami', '-o', 'json')) as {
      readonly status: { readonly userInfo: { readonly username: string; readonly groups: readonly string[] } };
    };
    expect(who.status.userInfo).toMatchObject({ username: 'ada', groups: ['developers', 'system:authenticated'] });
    const pods = [...asAda, 'get', 'pods', '-n', 'kube-system', '-o', 'name'];
    expect((await startCli(pods).outcome).stderr).toContain('Forbidden');
    const binding = ['create', 'clusterrolebinding', 'developers', '--clusterrole=view', '--group=developers'];
    await trustKubectl(cluster, ...binding);
    await eventually('that the group of the person may read pods', 20, async () =>
      (await startCli(pods).outcome).stdout.includes('pod/') ? true : undefined,
    );
  });

  test('openssl says that the certificate is for a client alone and ends when it should', () => {
    const { users } = parse(readFileSync(file, 'utf8')) as { users: [{ user: Record<string, string> }] };
    const pem = Buffer.from(users[0].user['client-certificate-data'] ?? '', 'base64');
    const text = execFileSync('openssl', ['x509', '-noout', '-text'], { input: pem, encoding: 'utf8' });
    expect(text).toMatch(/Subject: O ?= ?developers, CN ?= ?ada/);
    expect(text).toContain('TLS Web Client Authentication\n');
    expect(text).not.toContain('Server Authentication');
    const [, end = ''] = /Not After : (.*)/.exec(text) ?? [];
    const hours = (Date.parse(end) - Date.now()) / 3_600_000;
    expect(hours).toBeGreaterThan(7);
    expect(hours).toBeLessThanOrEqual(8);
  });

  test('a request for system:masters is refused by the verb, and by the API itself', async () => {
    const { code, stderr } = await startCli([
      'kubeconfig',
      'create',
      'eve',
      '--group',
      'system:masters',
      '--dir',
      cluster.dir,
    ]).outcome;
    expect([code, stderr]).toEqual([2, expect.stringContaining('CLUSTER_PERSON_REFUSED') as string]);
    const asked = await fileRequest('/O=system:masters/CN=eve', ['client auth']);
    expect(asked.stderr).toContain('system:masters');
    expect(asked.code).not.toBe(0);
  });

  test('a request for other usages than those of a client is approved in vain', async () => {
    const asked = await fileRequest('/CN=mallory', ['server auth']);
    expect(asked.code, asked.stderr).toBe(0);
    requests.push(asked.name);
    await trustKubectl(cluster, 'certificate', 'approve', asked.name);
    const { status } = await eventually('that the request failed', 30, async () => {
      const seen = await trustKubectlJson<RequestStatus>(cluster, 'get', 'csr', asked.name);
      return seen.status.conditions?.some(({ type }) => type === 'Failed') === true ? seen : undefined;
    });
    expect(status.certificate).toBeUndefined();
  });

  /** A request as anybody may make one, by openssl and kubectl. */
  async function fileRequest(subject: string, usages: readonly string[]) {
    const key = join(cluster.folder, 'person.key');
    const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    writeFileSync(key, pair.privateKey.export({ type: 'pkcs8', format: 'pem' }));
    const request = execFileSync('openssl', ['req', '-new', '-key', key, '-subj', subject], { encoding: 'utf8' });
    const name = `person-${usages.join('-').replaceAll(' ', '-')}-${Date.now()}`;
    const spec = { request: Buffer.from(request).toString('base64'), signerName, usages };
    const object = {
      apiVersion: 'certificates.k8s.io/v1',
      kind: 'CertificateSigningRequest',
      metadata: { name },
      spec,
    };
    const path = join(cluster.folder, 'person-request.json');
    writeFileSync(path, JSON.stringify(object));
    return { name, ...(await startCli(['kubectl', '--dir', cluster.dir, 'create', '-f', path]).outcome) };
  }
}
