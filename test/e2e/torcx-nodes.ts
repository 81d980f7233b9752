// The nodes of a cluster with nodeBootstrap: torcx, whose system is Debian: what the bootstrapper did and said before
// their kubelets started, what a joining node may read, and the hook of the same program as a DaemonSet.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { cli, eventually, inside } from './machine-lab.ts';
import type { TrustCluster } from './trust/trust-cluster.ts';
import { journalOf, starts } from './unit-journal.ts';

const bootstrapper = 'k8s-node-bootstrap.service';
const kubeletUnit = 'kubelet.service';
const annotation = 'container-linux-update.v1.coreos.com/tectonic-torcx-pre-hook-ok';

export function torcxNodesTopic(cluster: TrustCluster): void {
  const kubectl = (...args: readonly string[]): Promise<string> => cli('kubectl', '--dir', cluster.dir, ...args);

  test.each(['master-0', 'master-1', 'master-2', 'worker-0'])(
    '%s ran the bootstrapper once, before its kubelet, and joined',
    async (machine) => {
      const units = `--unit=${bootstrapper} --unit=${kubeletUnit}`;
      const entries = journalOf(
        await inside(cluster.infraId(), machine, `journalctl --output=json --no-pager --quiet ${units}`),
      );
      const runs = starts(entries, bootstrapper);
      const [kubelet] = starts(entries, kubeletUnit);
      const said = entries.filter(({ unit, messageId }) => unit === bootstrapper && messageId === '');
      expect(runs).toHaveLength(1);
      expect(said.map(({ message }) => message)).toContainEqual(
        expect.stringMatching(/there are no torcx packages for Debian GNU\/Linux 12 .*: add-ons.* are left alone/),
      );
      const written = said.find(({ message }) => message.includes('write /etc/kubernetes/kubelet.env'));
      expect(written?.atUs).toBeLessThan(kubelet?.atUs ?? 0);
      expect(await inside(cluster.infraId(), machine, 'cat /etc/kubernetes/kubelet.env')).toMatch(
        /^KUBELET_IMAGE_TAG=v1\.\d+\.\d+\n$/,
      );
      expect(await kubectl('get', 'node', machine)).toContain(' Ready ');
    },
  );

  test('what it falls back to are files of the installer, and the same in the ConfigMap', async () => {
    const name = 'tectonic-torcx-runtime-mappings';
    const there = ['--namespace', 'tectonic-system', 'get', 'configmap', name, '-o', 'json'];
    const { data } = JSON.parse(await kubectl(...there)) as { readonly data: Readonly<Record<string, string>> };
    expect(Object.keys(data).sort()).toEqual(['kubelet.env', 'runtime-mappings.yaml']);
    for (const [file, text] of Object.entries(data)) {
      expect(await inside(cluster.infraId(), 'worker-0', `cat /etc/kubernetes/installer/${file}`)).toBe(text);
    }
  });

  test('a joining node may read that ConfigMap and no other', async () => {
    const asked = (...what: readonly string[]): Promise<string> => {
      const joining = ['--as=system:bootstrap:abcdef', '--as-group=system:bootstrappers:nodes'];
      // Exit code 1 means no.
      return kubectl('auth', 'can-i', ...what, '--namespace', 'tectonic-system', ...joining).catch(() => 'no\n');
    };
    expect(await asked('get', 'configmap/tectonic-torcx-runtime-mappings')).toBe('yes\n');
    expect(await asked('get', 'configmap/kube-root-ca.crt')).toBe('no\n');
    expect(await asked('list', 'configmaps')).toBe('no\n');
  });

  test('the hook that `torcx manifests` prints prepares a node that is about to reboot, and says so on it', async () => {
    const file = join(cluster.folder, 'hook.yaml');
    writeFileSync(file, await cli('torcx', 'manifests'));
    await kubectl('apply', '-f', file);
    await kubectl('label', 'node', 'worker-0', 'container-linux-update.v1.coreos.com/before-reboot=true');
    const key = annotation.replaceAll('.', '\\.');
    const value = await eventually('the annotation of the hook', 120, async () => {
      const text = await kubectl('get', 'node', 'worker-0', '-o', `jsonpath={.metadata.annotations.${key}}`);
      return text === '' ? undefined : text;
    });
    expect(value).toBe('true');
  });
}
