// What machines, their Services and the load balancer offer to the network is what docs/security.md says, and nothing
// else.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { addressOf } from '../fire/etcd-machines.ts';
import { inside } from '../machine-lab.ts';
import { type TrustCluster, trustKubectl } from './trust-cluster.ts';

/** port → where it is open, by the table of the page. */
const documented = new Map(
  readFileSync('docs/security.md', 'utf8')
    .split('\n')
    .map((line) => line.split('|').map((cell) => cell.trim()))
    .filter(([, ports]) => /^\d+(, \d+)*$/.test(ports ?? ''))
    .flatMap(([, ports = '', where = '']) => ports.split(', ').map((port) => [port, where] as const)),
);

const listSockets = ['ss', '-Hltun'] as const;

const inOrder = (ports: Iterable<string>): readonly string[] =>
  [...new Set(ports)].sort((a, b) => Number(a) - Number(b));

const documentedOn = (where: RegExp): readonly string[] =>
  inOrder([...documented].filter(([, place]) => where.test(place)).map(([port]) => port));

/** TCP and UDP sockets that wait for others and are not on loopback, of what ss lists. */
function openPorts(listed: string): readonly string[] {
  const addresses = listed.split('\n').flatMap((line) => line.trim().split(/\s+/)[4] ?? []);
  const open = addresses
    .filter((address) => !/^(127\.|\[::1\])/.test(address))
    .map((address) => address.replace(/.*:/, ''));
  return inOrder(open);
}

export function openPortsTopic(cluster: TrustCluster): void {
  test.each([
    ['master-0', /masters|every machine/],
    ['worker-0', /every machine/],
  ])('%s listens on the ports of docs/security.md and on no other', async (machine, where) => {
    const listed = await inside(cluster.infraId(), machine, listSockets.join(' '));
    expect(openPorts(listed)).toEqual(documentedOn(where));
  });

  test('Services have the ports of nodes that are there and no other', async () => {
    const each = 'jsonpath={.items[*].spec.ports[*].nodePort}';
    const ports = await trustKubectl(cluster, 'get', 'services', '--all-namespaces', '-o', each);
    expect(inOrder(ports.split(' '))).toEqual(documentedOn(/by a Service/));
  });

  test('the load balancer listens on the ports that are there and on no other', () => {
    const network = `--net=/run/netns/firstlight.${cluster.infraId()}`;
    const listed = execFileSync('nsenter', [network, ...listSockets], { encoding: 'utf8', timeout: 20_000 });
    expect(openPorts(listed)).toEqual(documentedOn(/load balancer/));
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
