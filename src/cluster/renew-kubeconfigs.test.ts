import { beforeEach, describe, expect, test } from 'vitest';
import { createAssets } from '../assets/create-assets.ts';
import { targets } from '../assets/targets.ts';
import { type FakeHost, fakeHost } from '../host/fake/fake-host.ts';
import { readCertificate } from '../pki/certificate.ts';
import { isSignedBy } from '../pki/chain.ts';
import { renewKubeconfigs } from './renew-kubeconfigs.ts';

const dir = '/w';
const dayMs = 86_400_000;
const { signal } = new AbortController();
let host: FakeHost;

const renew = () => renewKubeconfigs({ host, dir, emit: () => {}, signal });
const read = (path: string): Promise<string> => host.files.readText(`${dir}/${path}`);

/** The certificate that a kubeconfig carries. */
async function carried(path: string): Promise<string> {
  const [, data = ''] = /client-certificate-data: *(\S+)/.exec(await read(path)) ?? [];
  return Buffer.from(data, 'base64').toString('utf8');
}

beforeEach(async () => {
  host = fakeHost({ seed: 'renew' });
  await host.files.makeFolder(dir);
  const all = { targets: targets['ignition-configs'], purpose: 'test', emit: () => {}, signal };
  await createAssets({ host, dir, ...all });
});

describe('the certificates of administrators', () => {
  test('are left alone while they have most of their life before them', async () => {
    host.clock.advance(200 * dayMs);
    const { changes } = host.disk;
    expect(await renew()).toMatchObject([
      { user: 'admin', kubeconfig: 'auth/kubeconfig', isRenewed: false },
      { user: 'break-glass-admin', kubeconfig: 'auth/kubeconfig-break-glass', isRenewed: false },
    ]);
    expect(host.disk.changes).toBe(changes);
  });

  test.each([
    ['that are near their end', 300],
    ['that have ended', 400],
  ])('%s are made anew by the signer that the cluster knows, and no other key changes', async (_title, days) => {
    const signerPem = await read('tls/control-plane-client-signer.crt');
    const others = ['bootstrap.ign', 'tls/etcd-signer.key', 'auth/join-keys.json', 'metadata.json'];
    const before = await Promise.all(others.map(read));
    host.clock.advance(days * dayMs);
    const renewed = await renew();
    expect(renewed.map(({ isRenewed }) => isRenewed)).toEqual([true, true]);
    const now = host.clock.now().getTime();
    for (const { kubeconfig, notAfter } of renewed) {
      const certificate = readCertificate(await carried(kubeconfig));
      expect(certificate.notAfter).toEqual(notAfter);
      expect(notAfter.getTime() - now).toBeGreaterThan(364 * dayMs);
      expect(isSignedBy(certificate, readCertificate(signerPem))).toBe(true);
    }
    expect(await Promise.all(others.map(read))).toEqual(before);
    expect((await renew()).map(({ isRenewed }) => isRenewed)).toEqual([false, false]);
  });

  test('the kubeconfig for inside the network of the cluster follows', async () => {
    const before = await carried('auth/kubeconfig-internal');
    host.clock.advance(300 * dayMs);
    await renew();
    expect(await carried('auth/kubeconfig-internal')).toBe(await carried('auth/kubeconfig'));
    expect(await carried('auth/kubeconfig-internal')).not.toBe(before);
  });

  test('a folder without a cluster is told so, and stays empty', async () => {
    const empty = fakeHost();
    await empty.files.makeFolder(dir);
    await expect(renewKubeconfigs({ host: empty, dir, emit: () => {}, signal })).rejects.toMatchObject({
      code: 'CLUSTER_NO_CLUSTER',
    });
    expect(await empty.files.list(dir)).toEqual([]);
  });
});
