// People who log in with tokens of an issuer that the install-config named, at a cluster that stands.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { cli, eventually, inside, startCli } from '../machine-lab.ts';
import { type Issuer, type IssuerLab, readersGroup } from './issuer-lab.ts';

export interface IssuerCluster {
  readonly dir: string;
  readonly folder: string;
  readonly infraId: () => string;
  readonly masters: readonly string[];
  readonly lab: IssuerLab;
  /** The file of the bootstrap machine, read while it served. */
  readonly ofBootstrap: () => string | undefined;
}

const configurationFile = '/etc/kubernetes/kube-apiserver/authentication.yaml';

/** An administrator's kubeconfig without the administrator: who uses it shows a token. */
function nobodysKubeconfig({ dir, folder }: IssuerCluster): string {
  const path = join(folder, 'nobody.kubeconfig');
  const mine = parse(readFileSync(join(dir, 'auth/kubeconfig'), 'utf8')) as { users: { name: string }[] };
  writeFileSync(path, stringify({ ...mine, users: mine.users.map(({ name }) => ({ name, user: {} })) }));
  return path;
}

export function tokenLoginTests(cluster: IssuerCluster): void {
  let issuer: Issuer;
  let kubeconfig: string;

  const kubectl = (token: string, ...args: readonly string[]) =>
    startCli(['kubectl', '--dir', cluster.dir, '--kubeconfig', kubeconfig, '--token', token, ...args]).outcome;

  async function refusal(token: string): Promise<string> {
    const { code, stderr } = await kubectl(token, 'get', 'namespaces');
    expect(code, stderr).not.toBe(0);
    return stderr;
  }

  beforeAll(async () => {
    issuer = await cluster.lab.serve(cluster.infraId());
    kubeconfig = nobodysKubeconfig(cluster);
    const binding = ['create', 'clusterrolebinding', 'readers', '--clusterrole=view', `--group=${readersGroup}`];
    await cli('kubectl', '--dir', cluster.dir, ...binding);
    // An API server that could not reach the issuer asks for its keys again every ten seconds.
    await eventually('that the API servers know the issuer', 60, async () =>
      (await kubectl(issuer.tokenOf('ada', 'cluster'), 'auth', 'whoami')).code === 0 ? true : undefined,
    );
  });

  afterAll(async () => {
    // Undefined when the cluster did not come up.
    (issuer as Issuer | undefined)?.stop();
    await startCli(['kubectl', '--dir', cluster.dir, 'delete', 'clusterrolebinding', 'readers']).outcome;
  });

  describe('a person with a token of the issuer in the install-config', () => {
    test('is who the token says, and may do what the role of their group says', async () => {
      const token = issuer.tokenOf('ada', 'cluster');
      const who = JSON.parse((await kubectl(token, 'auth', 'whoami', '-o', 'json')).stdout) as {
        status: { userInfo: { username: string; groups: string[] } };
      };
      expect(who.status.userInfo).toMatchObject({
        username: 'oidc:ada',
        groups: [readersGroup, 'system:authenticated'],
      });
      const pods = await kubectl(token, 'get', 'pods', '-A', '-o', 'name');
      expect([pods.code, pods.stdout]).toEqual([0, expect.stringContaining('pod/') as string]);
      expect((await kubectl(token, 'get', 'secrets', '-A')).stderr).toContain('Forbidden');
    });

    test.each([
      ['was issued for somebody else', () => issuer.tokenOf('ada', 'elsewhere')],
      ['comes from another issuer', () => issuer.tokenOf('ada', 'cluster', 'other')],
      ['breaks a rule about its person', () => issuer.tokenOf('mallory', 'cluster')],
      ['makes its person one of system:masters', () => issuer.tokenOf('eve', 'cluster')],
    ])('is a stranger when the token %s', async (_what, token) => {
      expect(await refusal(token())).toContain('Unauthorized');
    });

    test('is a stranger when the token is over', async () => {
      const token = issuer.tokenOf('ada', 'soon-over');
      const { exp } = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8')) as {
        exp: number;
      };
      await eventually('the end of the token', 30, async () => (Date.now() > exp * 1000 + 500 ? true : undefined));
      expect(await refusal(token)).toContain('Unauthorized');
    });
  });

  test('every API server got the same file, the one of the bootstrap machine included', async () => {
    const texts = await Promise.all(
      cluster.masters.map((master) => inside(cluster.infraId(), master, `cat ${configurationFile}`)),
    );
    expect(texts[0]).toContain('kind: AuthenticationConfiguration');
    expect([...new Set([...texts, cluster.ofBootstrap() ?? ''])]).toHaveLength(1);
  });

  test('the configuration of the cluster names the issuer', async () => {
    const told = await cli('kubectl', '--dir', cluster.dir, 'get', 'oauth', 'cluster', '--no-headers');
    expect(told).toMatch(/^cluster +https:\/\/login\.apps\.\S+:9443 /);
  });
}
