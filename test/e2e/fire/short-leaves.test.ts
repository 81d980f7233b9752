// Certificates of masters, and of a kubelet, that live ten minutes: all of them are renewed, taken up by whoever uses
// them, and no client notices, for longer than the first ones lived.
import { execFileSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { certificateFile } from '../../../src/control-plane/control-plane-paths.ts';
import { ownLeaves } from '../../../src/control-plane/machine-credentials.ts';
import { machineNamespace, machinePaths, namespacePath } from '../../../src/platform/local/cluster-folder.ts';
import { cli, eventually } from '../machine-lab.ts';
import { addressOf, etcdMachines } from './etcd-machines.ts';
import { note, printFigures } from './figures.ts';
import { FireCluster, goodEnd, masters } from './fire-cluster.ts';
import { kubeletCertificates, shortenKubeletCertificates } from './kubelet-certificates.ts';
import { startLoad } from './load-report.ts';
import { isLong } from './long.ts';

const minuteMs = 60_000;
const installConfig = 'controlPlane:\n  certificateMinutes: 10\n';
const pause = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));

/** `master-0 etcd-peer` → the certificate on the disk. */
function leavesOf({ infraId }: FireCluster): ReadonlyMap<string, X509Certificate> {
  return new Map(
    masters.flatMap((machine) =>
      ownLeaves.map((leaf) => [
        `${machine} ${leaf}`,
        new X509Certificate(readFileSync(join(machinePaths(infraId, machine).upper, certificateFile(leaf)))),
      ]),
    ),
  );
}

/** The certificate that is shown to whoever connects, but from where a load balancer is expected. */
function shownBy({ infraId }: FireCluster, address: string, port: number): X509Certificate {
  const enter = `--net=${namespacePath(machineNamespace(infraId, 'worker-0'))}`;
  const script = `openssl s_client -connect ${address}:${port} </dev/null 2>/dev/null | openssl x509`;
  return new X509Certificate(execFileSync('nsenter', [enter, 'sh', '-c', script], { encoding: 'utf8' }));
}

/** `master-0 6443` → the serial of what is shown there. */
function servedSerials(cluster: FireCluster): ReadonlyMap<string, string> {
  const machines = etcdMachines(cluster.dir).filter(({ name }) => masters.includes(name));
  return new Map(
    machines.flatMap(({ name, address }) =>
      [6443, 2379, 2380, 22_623].map(
        (port) => [`${name} ${port}`, shownBy(cluster, address, port).serialNumber] as const,
      ),
    ),
  );
}

function unchanged<T>(before: ReadonlyMap<string, T>, now: ReadonlyMap<string, T>): readonly string[] {
  return [...before].filter(([name, value]) => now.get(name) === value).map(([name]) => name);
}

const serials = (leaves: ReadonlyMap<string, X509Certificate>): ReadonlyMap<string, string> =>
  new Map([...leaves].map(([name, { serialNumber }]) => [name, serialNumber]));

/** How long ago the holder of a Lease said that it is alive, in seconds. */
async function leaseAge(cluster: FireCluster, name: string): Promise<number> {
  const text = await cli('kubectl', '--dir', cluster.dir, 'get', 'lease', name, '-n', 'kube-system', '-o', 'json');
  const { spec } = JSON.parse(text) as { spec: { renewTime: string } };
  return (Date.now() - Date.parse(spec.renewTime)) / 1000;
}

async function refusals(cluster: FireCluster, component: string): Promise<readonly string[]> {
  const logs = await Promise.all(
    masters.map((master) =>
      cli('kubectl', '--dir', cluster.dir, 'logs', '-n', 'kube-system', `${component}-${master}`),
    ),
  );
  return logs.flatMap((log) => log.split('\n').filter((line) => /Unauthorized|certificate has expired/.test(line)));
}

describe.runIf(isLong)('certificates of masters that live ten minutes', () => {
  test('are all renewed and taken up within twelve, and no client notices', { timeout: 25 * minuteMs }, async () => {
    await using cluster = new FireCluster({ name: 'leaves', installConfig });
    await cluster.finish();
    const kubeconfig = join(cluster.dir, 'auth/kubeconfig');
    const load = startLoad({ kubeconfig, writesPerSecond: 20, watches: 5 });
    const startMs = performance.now();
    const first = leavesOf(cluster);
    const shown = servedSerials(cluster);
    const lastEndMs = Math.max(...[...first.values()].map(({ validTo }) => Date.parse(validTo)));
    expect(lastEndMs - Date.now()).toBeLessThanOrEqual(10 * minuteMs);
    const worker = { dir: cluster.dir, infraId: cluster.infraId, machine: 'worker-0' };
    await shortenKubeletCertificates(worker);
    const short = await kubeletCertificates(worker);
    const shortEndMs = Math.max(...[...short.values()].map(({ validTo }) => Date.parse(validTo)));
    expect(shortEndMs - Date.now()).toBeLessThanOrEqual(10 * minuteMs);
    await eventually('that every certificate is another', 720, async () => {
      await pause(5_000);
      return unchanged(serials(first), serials(leavesOf(cluster))).length === 0 ? true : undefined;
    });
    note('every certificate on the disks is another', startMs);
    await pause(Math.max(0, Math.max(lastEndMs, shortEndMs) + minuteMs - Date.now()));
    expect(unchanged(shown, servedSerials(cluster))).toEqual([]);
    const own = await kubeletCertificates(worker);
    expect(unchanged(serials(short), serials(own))).toEqual([]);
    // Signed as usual this time, and the serving one is what whoever connects is shown.
    for (const { validTo } of own.values()) expect(Date.parse(validTo) - Date.now()).toBeGreaterThan(60 * minuteMs);
    expect(shownBy(cluster, addressOf(cluster.dir, worker.machine), 10_250).serialNumber).toBe(
      own.get('server')?.serialNumber,
    );
    for (const lease of ['kube-controller-manager', 'kube-scheduler', 'etcd-membership']) {
      expect(await leaseAge(cluster, lease)).toBeLessThan(30);
    }
    for (const component of ['kube-controller-manager', 'kube-scheduler', 'kube-apiserver']) {
      expect(await refusals(cluster, component)).toEqual([]);
    }
    expect(await cluster.end()).toEqual(goodEnd);
    const { lost, failed, missed } = await load.end();
    printFigures();
    expect({ lost, failed, missed }).toEqual({ lost: [], failed: [], missed: [] });
  });
});
