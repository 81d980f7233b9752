// What a machine offers to its network is what docs/security.md says, and nothing else.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { addressOf } from '../fire/etcd-machines.ts';
import { inside } from '../machine-lab.ts';
import type { TrustCluster } from './trust-cluster.ts';

/** port → where it is open, by the table of the page. */
const documented = new Map(
  readFileSync('docs/security.md', 'utf8')
    .split('\n')
    .map((line) => line.split('|').map((cell) => cell.trim()))
    .filter(([, ports]) => /^\d+(, \d+)*$/.test(ports ?? ''))
    .flatMap(([, ports = '', where = '']) => ports.split(', ').map((port) => [port, where] as const)),
);

/** TCP and UDP sockets that wait for others and are not on loopback. */
async function openPorts(cluster: TrustCluster, machine: string): Promise<readonly string[]> {
  const lines = (await inside(cluster.infraId(), machine, 'ss -Hltun')).split('\n');
  const addresses = lines.flatMap((line) => line.trim().split(/\s+/)[4] ?? []);
  const open = addresses
    .filter((address) => !/^(127\.|\[::1\])/.test(address))
    .map((address) => address.replace(/.*:/, ''));
  return [...new Set(open)].sort((a, b) => Number(a) - Number(b));
}

export function openPortsTopic(cluster: TrustCluster): void {
  test.each([
    ['master-0', /masters|every machine/],
    ['worker-0', /every machine/],
  ])('%s listens on the ports of docs/security.md and on no other', async (machine, where) => {
    const expected = [...documented].filter(([, place]) => where.test(place)).map(([port]) => port);
    expect(await openPorts(cluster, machine)).toEqual(expected.sort((a, b) => Number(a) - Number(b)));
  });

  test('kube-proxy of a node says to other machines whether the node serves, and nothing else', () => {
    const paths = ['/healthz', '/livez', '/metrics', '/configz'];
    const base = `http://${addressOf(cluster.dir, 'worker-0')}:10256`;
    const ask = `Promise.all(${JSON.stringify(paths)}.map((path) => fetch('${base}' + path))).then((answers) =>
      console.log(...answers.map(({ status }) => status)))`;
    const network = `--net=/run/netns/firstlight.${cluster.infraId()}.master-0`;
    const said = execFileSync('nsenter', [network, process.execPath, '-e', ask], { timeout: 20_000 }).toString();
    expect(said).toBe('200 200 404 404\n');
  });
}
