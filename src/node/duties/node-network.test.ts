import { describe, expect, test } from 'vitest';
import { type FakeAgent, fakeAgent, inventoryObject, nodeObject } from '../../../test/sim/agent-fixture.ts';
import { kubeProxyDuty } from './kube-proxy.ts';
import { peerRoutesDuty } from './peer-routes.ts';
import { podNetworkDuty } from './pod-network.ts';

describe('the pod network of a node', () => {
  test('follows the ranges of its own node, also when it joined anew and got others', async () => {
    const agent = fakeAgent();
    expect(await podNetworkDuty.run(agent)).toMatchObject({
      status: 'waiting',
      missing: [{ what: expect.stringContaining('register') }],
    });
    agent.cluster.put({ nodes: [nodeObject('master-1', '10.99.0.12', [])] });
    expect(await podNetworkDuty.run(agent)).toMatchObject({
      status: 'waiting',
      missing: [{ what: expect.stringContaining('pod range') }],
    });
    for (const range of ['10.128.2.0/23', '10.128.8.0/23']) {
      agent.cluster.put({ nodes: [nodeObject('master-1', '10.99.0.12', [range])] });
      expect(await podNetworkDuty.run(agent)).toMatchObject({ status: 'acted' });
      expect(await agent.host.files.readText('/etc/cni/net.d/10-firstlight.conflist')).toContain(range);
      expect(await podNetworkDuty.run(agent)).toEqual({ status: 'settled', note: range });
    }
  });
});

function see(agent: FakeAgent, nodes: Parameters<FakeAgent['cluster']['put']>[0]['nodes']): void {
  agent.cluster.put({ nodes, configMaps: [inventoryObject()] });
}

describe('routes to the pods of other nodes', () => {
  const peers = [
    nodeObject('master-1', '10.99.0.12', ['10.128.2.0/23']),
    nodeObject('master-0', '10.99.0.11', ['10.128.0.0/23']),
    nodeObject('worker-0', '10.99.0.21', []),
  ];

  test('are set for peers and removed for those that are gone; a foreign route is never touched', async () => {
    const shown = [
      { dst: '10.128.0.0/23', gateway: '10.99.0.99' },
      { dst: '10.128.6.0/23', gateway: '10.99.0.14' },
    ];
    const output = (line: string): string => (line.startsWith('ip -4 -json') ? JSON.stringify(shown) : '[]');
    const agent = fakeAgent({ output });
    see(agent, peers);
    expect(await peerRoutesDuty.run(agent)).toEqual({ status: 'acted', did: 'routes: 1 set, 1 removed' });
    expect(agent.commands).toEqual([
      'ip -4 -json route show proto 241',
      'ip -6 -json route show proto 241',
      'ip -4 route replace 10.128.0.0/23 via 10.99.0.11 proto 241',
      'ip -4 route del 10.128.6.0/23 proto 241',
    ]);
  });

  test('are asked of the kernel when others are wanted or some time has passed, not at every ring', async () => {
    const shown = [{ dst: '10.128.0.0/23', gateway: '10.99.0.11' }];
    const agent = fakeAgent({ output: (line) => (line.startsWith('ip -4 -json') ? JSON.stringify(shown) : '[]') });
    const looks = (): number => agent.commands.filter((line) => line.startsWith('ip -4 -json')).length;
    see(agent, peers);
    for (let ring = 0; ring < 3; ring += 1) {
      expect(await peerRoutesDuty.run(agent)).toEqual({ status: 'settled', note: 'to 1 pod ranges' });
    }
    expect(looks()).toBe(1);
    see(agent, [...peers.slice(0, 2), nodeObject('worker-0', '10.99.0.21', ['10.128.4.0/23'])]);
    expect(await peerRoutesDuty.run(agent)).toEqual({ status: 'acted', did: 'routes: 1 set, 0 removed' });
    expect(looks()).toBe(2);
    see(agent, peers);
    agent.host.clock.advance(30_000);
    expect(await peerRoutesDuty.run(agent)).toMatchObject({ status: 'settled' });
    expect(looks()).toBe(3);
  });

  test('a peer that cannot be reached directly is named, and costs the others nothing', async () => {
    const done: string[] = [];
    const agent = fakeAgent({
      processes: {
        run: async (_program, args) => {
          const isFar = args.includes('10.99.0.21');
          if (!args.includes('show')) done.push(args.join(' '));
          const stderr = isFar ? 'Error: Nexthop has invalid gateway.' : '';
          return { code: isFar ? 2 : 0, signal: undefined, stdout: '[]', stderr, timedOut: false };
        },
      },
    });
    see(agent, [nodeObject('worker-0', '10.99.0.21', ['10.128.4.0/23']), ...peers.slice(0, 2)]);
    expect(await peerRoutesDuty.run(agent)).toMatchObject({
      status: 'waiting',
      missing: [{ who: expect.stringContaining('Nexthop has invalid gateway') }],
    });
    expect(done).toContain('-4 route add 10.128.0.0/23 via 10.99.0.11 proto 241');
  });

  test('that a node asks for without a right to are named in the state of the agent, and none is set', async () => {
    const agent = fakeAgent({ output: () => '[]' });
    see(agent, [nodeObject('worker-0', '10.99.0.21', ['0.0.0.0/0']), nodeObject('master-1', '10.99.0.12', [])]);
    expect(await peerRoutesDuty.run(agent)).toEqual({
      status: 'settled',
      note:
        'to 0 pod ranges; worker-0 gets no route for "0.0.0.0/0": ' +
        'it is not one part, of the size /23, of the pod network 10.128.0.0/14',
    });
    expect(agent.commands.filter((line) => !line.includes('show'))).toEqual([]);
  });

  test('wait for the inventory, and stay as they are until then', async () => {
    const agent = fakeAgent();
    agent.cluster.put({ nodes: peers });
    expect(await peerRoutesDuty.run(agent)).toMatchObject({ status: 'waiting' });
    expect(agent.commands).toEqual([]);
  });

  test('are not taken away by a list in which this very node is missing', async () => {
    const agent = fakeAgent();
    agent.cluster.put({ nodes: [] });
    expect(await peerRoutesDuty.run(agent)).toMatchObject({ status: 'waiting' });
    expect(agent.commands).toEqual([]);
  });
});

describe('the identity of kube-proxy', () => {
  const path = '/var/lib/kube-proxy/kubeconfig';

  test('on a worker is that of the node, once the kubelet has its certificate and not when it only names it', async () => {
    const agent = fakeAgent({ role: 'worker' });
    const { files } = agent.host;
    await files.makeFolder('/var/lib/kubelet/pki');
    await files.write('/var/lib/kubelet/kubeconfig', 'a kubeconfig that names kubelet-client-current.pem');
    expect(await kubeProxyDuty.run(agent)).toMatchObject({ status: 'waiting' });
    await files.write('/var/lib/kubelet/pki/kubelet-client-current.pem', 'pem');
    expect(await kubeProxyDuty.run(agent)).toMatchObject({ status: 'acted' });
    expect(await files.readText(path)).toBe('a kubeconfig that names kubelet-client-current.pem');
    expect((await files.facts(path))?.mode).toBe(0o600);
    expect(await kubeProxyDuty.run(agent)).toEqual({ status: 'settled' });
  });

  test('on a master is a leaf of its own', async () => {
    const agent = fakeAgent();
    await kubeProxyDuty.run(agent);
    expect(await agent.host.files.readText(path)).toContain('client-certificate: /etc/kubernetes/pki/kube-proxy.crt');
  });
});
