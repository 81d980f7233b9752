// One cluster, made, used, changed and destroyed through the program as a person would. The tests of this file share it
// and run in order: each describes one promise about a cluster that stands.
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import type { Waterfall } from '../../src/waterfall/waterfall-rows.ts';
import { etcdctl } from './fire/etcd-oracle.ts';
import { type LoadReport, startLoad } from './fire/load-report.ts';
import { voterCounts } from './fire/member-history.ts';
import { ask, freshToken, type HostileRequest, tokenIn } from './hostile-requests.ts';
import { cli, eventually, hostPicture, inside, list, startCli, temporaryFolder, traces } from './machine-lab.ts';
import { secretsOfFolder, secretsOfIgnition, whereOnDisks } from './secret-search.ts';

const folder = temporaryFolder();
const dir = join(folder, 'cluster');
const minuteMs = 60_000;
let before: ReturnType<typeof hostPicture>;
let infraId: string;
let load: LoadReport;

async function kubectl(...args: readonly string[]): Promise<string> {
  return cli('kubectl', '--dir', dir, ...args);
}

async function kubectlJson<T>(...args: readonly string[]): Promise<T> {
  return JSON.parse(await kubectl(...args, '-o', 'json')) as T;
}

interface NodeList {
  readonly items: readonly {
    readonly metadata: { readonly name: string };
    readonly status: { readonly conditions: readonly { readonly type: string; readonly status: string }[] };
  }[];
}

async function readyNodes(): Promise<readonly string[]> {
  const { items } = await kubectlJson<NodeList>('get', 'nodes');
  return items
    .filter(({ status }) => status.conditions.some(({ type, status: is }) => type === 'Ready' && is === 'True'))
    .map(({ metadata }) => metadata.name)
    .sort();
}

beforeAll(async () => {
  before = hostPicture();
  // A client of the API from its first answer to the end of the handoff; what it saw is judged below.
  const client = startLoad({ kubeconfig: join(dir, 'auth/kubeconfig-local'), writesPerSecond: 20, watches: 50 });
  const outcome = await startCli(['create', 'cluster', '--dir', dir, '-o', 'json']).outcome;
  if (outcome.code !== 0) client.kill();
  if (outcome.code !== 0) throw new Error(`create cluster ended with ${outcome.code}\n${outcome.stderr}`);
  infraId = (JSON.parse(outcome.stdout) as { infraId: string }).infraId;
  load = await client.end();
}, 20 * minuteMs);

afterAll(async () => {
  await startCli(['destroy', 'cluster', '--dir', dir]).outcome;
  rmSync(folder, { recursive: true, force: true });
});

const everybody = ['master-0', 'master-1', 'master-2', 'worker-0'];

describe('a fresh cluster', () => {
  test('has three masters and a worker, all Ready, and no bootstrap machine', async () => {
    expect(await readyNodes()).toEqual(everybody);
    expect((await list(infraId)).map(({ name }) => name).sort()).toEqual(everybody);
  });

  test('status --waterfall tells where the time went, also on the bootstrap machine that is gone', async () => {
    const text = await cli('status', '--waterfall', '--dir', dir, '-o', 'json');
    const { groups } = JSON.parse(text) as Waterfall;
    expect(groups.map(({ name }) => name)).toEqual(['create cluster', 'bootstrap', ...everybody, 'load balancer']);
    const unfinished = groups
      .filter(({ name }) => name !== 'load balancer')
      .flatMap(({ name, rows }) =>
        rows.filter(({ toMs }) => toMs === undefined).map(({ label }) => `${name}: ${label}`),
      );
    expect(unfinished).toEqual([]);
    for (const { rows } of groups) expect(rows.length).toBeGreaterThan(5);
  });

  test('etcd grew one voter at a time, and the bootstrap member left last', async () => {
    const histories = await Promise.all(
      ['master-0', 'master-1', 'master-2'].map(async (master) =>
        voterCounts(await kubectl('logs', '-n', 'kube-system', `etcd-${master}`)),
      ),
    );
    // Whoever joined first saw the most; the others begin with a snapshot of what was before.
    const longest = histories.reduce((a, b) => (b.length > a.length ? b : a));
    expect([1, 2, 3, 4, 3].join()).toContain(longest.join());
    expect(longest.slice(-2)).toEqual([4, 3]);
  });

  test('has no token left with which a machine could join', async () => {
    const selector = 'type=bootstrap.kubernetes.io/token';
    const { items } = await kubectlJson<{ items: readonly unknown[] }>(
      'get',
      'secrets',
      '-n',
      'kube-system',
      `--field-selector=${selector}`,
    );
    expect(items).toEqual([]);
  });

  test('is said to be complete, quickly, when it is asked for again', async () => {
    const startMs = performance.now();
    expect(await cli('create', 'cluster', '--dir', dir)).toContain('4 nodes Ready, nothing to do');
    expect(performance.now() - startMs).toBeLessThan(10_000);
  });

  test('status and wait-for agree that it is', async () => {
    expect(await cli('wait-for', 'bootstrap-complete', '--dir', dir)).toContain(
      'safe to remove the bootstrap resources',
    );
    expect(await cli('wait-for', 'install-complete', '--dir', dir)).toContain('Install complete!');
    expect(JSON.parse(await cli('status', '--dir', dir, '-o', 'json'))).toMatchObject({
      api: { isReady: true },
      etcdVoters: ['master-0', 'master-1', 'master-2'],
      bootstrap: null,
    });
  });
});

describe('a client of the API during the handoff', () => {
  test('loses nothing that was acknowledged, and needs no more than one retry', () => {
    expect({ lost: load.lost, failed: load.failed }).toEqual({ lost: [], failed: [] });
    expect(load.acknowledged).toBeGreaterThan(100);
  });

  test('takes up every watch where it was cut, without a missed event', () => {
    expect({ missed: load.missed, relists: load.relists }).toEqual({ missed: [], relists: 0 });
    expect(load.cuts).toBeGreaterThanOrEqual(load.watches);
  });

  test('finds only masters behind the Service of the API', async () => {
    const { subsets } = await kubectlJson<{ subsets: readonly { addresses: readonly { ip: string }[] }[] }>(
      'get',
      'endpoints',
      'kubernetes',
    );
    const inventory = JSON.parse(readFileSync(join(dir, 'inventory.json'), 'utf8')) as {
      machines: readonly { role: string; addresses: readonly string[] }[];
    };
    const masters = inventory.machines.filter(({ role }) => role === 'master').flatMap(({ addresses }) => addresses);
    expect(subsets.flatMap(({ addresses }) => addresses.map(({ ip }) => ip)).sort()).toEqual([...masters].sort());
  });
});

const server = `require('node:http').createServer((q, a) => a.end(process.env.HOSTNAME)).listen(8080)`;

function webObjects(image: string): readonly object[] {
  const labels = { app: 'web' };
  const spread = {
    labelSelector: { matchLabels: labels },
    topologyKey: 'kubernetes.io/hostname',
    maxSkew: 1,
    whenUnsatisfiable: 'DoNotSchedule',
  };
  const container = {
    name: 'web',
    image,
    imagePullPolicy: 'Never',
    command: ['/usr/local/lib/firstlight/bin/node', '-e', server],
    readinessProbe: { httpGet: { path: '/', port: 8080 }, periodSeconds: 1 },
  };
  const tolerations = [{ operator: 'Exists', effect: 'NoSchedule' }];
  const pod = {
    metadata: { labels },
    spec: { containers: [container], tolerations, topologySpreadConstraints: [spread] },
  };
  return [
    {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'web' },
      spec: { replicas: 2, selector: { matchLabels: labels }, template: pod },
    },
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'web' },
      spec: { selector: labels, ports: [{ port: 80, targetPort: 8080 }] },
    },
  ];
}

describe('work in the cluster', () => {
  test('two replicas on two nodes answer by the name of their Service, from another pod', async () => {
    const release = JSON.parse(await cli('release', 'info', '-o', 'json')) as { images: readonly { tag: string }[] };
    const image = release.images.find(({ tag }) => tag.includes('/firstlight:'))?.tag ?? '';
    const file = join(folder, 'web.json');
    writeFileSync(file, JSON.stringify({ apiVersion: 'v1', kind: 'List', items: webObjects(image) }));
    await kubectl('apply', '-f', file);
    await kubectl('rollout', 'status', 'deployment/web', '--timeout=180s');
    const { items } = await kubectlJson<{
      items: readonly { metadata: { name: string }; spec: { nodeName: string } }[];
    }>('get', 'pods', '-l', 'app=web');
    expect(new Set(items.map(({ spec }) => spec.nodeName)).size).toBe(2);
    const asking = `(async()=>{const s=new Set();for(let i=0;i<40;i++)s.add(await (await fetch('http://web.default.svc.cluster.local',{headers:{connection:'close'}})).text());console.log([...s].sort().join())})()`;
    const node = '/usr/local/lib/firstlight/bin/node';
    const both = items.map(({ metadata }) => metadata.name).sort();
    // That its pods are Ready reaches the Service a moment later: first the slice of its endpoints, then every kube-proxy.
    await eventually('answers of both replicas, and none that is refused', 30, async () => {
      const exec = ['kubectl', '--dir', dir, 'exec', both[0] ?? '', '--', node, '-e', asking];
      const { code, stdout } = await startCli(exec).outcome;
      return code === 0 && stdout.trim() === both.join() ? true : undefined;
    });
  });
});

const masters = ['master-0', 'master-1', 'master-2'];
const signers = ['config-server', 'etcd', 'apiserver-serving', 'control-plane-client', 'kubelet', 'front-proxy'].map(
  (n) => `${n}-signer`,
);

/** Besides the folder of the machine: what a component signs with is in the component's own folder too. */
const copies: Readonly<Record<string, readonly string[]>> = {
  'kubelet-signer.key': ['kube-controller-manager'],
  'service-account.key': ['kube-apiserver', 'kube-controller-manager'],
  'secrets-encryption.json': ['kube-apiserver'],
};

describe('secrets', () => {
  test('of bootstrap.ign are on the masters where they belong, and on no other disk', () => {
    const placesOf = (file: string): readonly string[] =>
      masters
        .flatMap((master) =>
          ['pki', ...(copies[file] ?? [])].map((place) => `${master}:/upper/etc/kubernetes/${place}/${file}`),
        )
        .sort();
    const found = whereOnDisks(infraId, secretsOfIgnition(join(dir, 'bootstrap.ign')), folder);
    const allowed = new Map([
      ...[...signers, 'service-account'].map(
        (name) => [`/opt/firstlight/tls/${name}.key`, placesOf(`${name}.key`)] as const,
      ),
      ['/opt/firstlight/tls/secrets-encryption.json', placesOf('secrets-encryption.json')],
      // The bootstrap machine served with it; every master makes its own.
      ['/opt/firstlight/tls/machine-config-server.key', []],
      ['/opt/firstlight/auth/kubeconfig-loopback', []],
    ]);
    expect(found).toEqual(allowed);
  });

  test('that only the workstation holds are on no machine', () => {
    const here = secretsOfFolder(join(dir, 'tls'));
    const found = whereOnDisks(
      infraId,
      new Map([...here].filter(([name]) => /^(root-ca|admin|break-glass)/.test(name))),
      folder,
    );
    expect(Object.fromEntries(found)).toEqual({ 'admin.key': [], 'break-glass-admin.key': [], 'root-ca.key': [] });
  });
});

describe('a stranger with a pool token', () => {
  const hostile: readonly (HostileRequest & { readonly why: string })[] = [
    { name: 'taken', subject: '/O=system:nodes/CN=system:node:worker-0', why: 'a live node is called worker-0' },
    { name: 'unknown', subject: '/O=system:nodes/CN=system:node:worker-77', why: 'worker-77' },
    { name: 'greedy', subject: '/O=system:nodes/O=system:masters/CN=system:node:worker-77', why: 'system:masters' },
    {
      name: 'usage',
      subject: '/O=system:nodes/CN=system:node:worker-77',
      usages: ['digital signature', 'server auth'],
      why: 'usages',
    },
  ];

  test('gets nothing approved beyond its own name, and an event says why', async () => {
    const stranger = { dir, infraId, scratch: folder };
    const token = await freshToken(stranger, 'worker-0');
    for (const request of hostile) expect(await ask(stranger, token, request)).toBe('');
    for (const { name, why } of hostile) {
      const said = await eventually(`an event on ${name}`, 30, async () => {
        const text = await kubectl('get', 'events', '-A', '--field-selector', `involvedObject.name=${name}`);
        return text.includes('Not approved') ? text : undefined;
      });
      expect(said).toContain(why);
      expect(await kubectl('get', 'csr', name, '-o', 'jsonpath={.status}')).toBe('{}');
    }
  });

  test('cannot ask again with a token that a machine has used', async () => {
    const used = tokenIn(await inside(infraId, 'worker-0', 'cat /etc/kubernetes/kubeconfig'));
    const request = { name: 'used', subject: '/O=system:nodes/CN=system:node:worker-77' };
    expect(await ask({ dir, infraId, scratch: folder }, used, request)).toMatch(/provide credentials|Unauthorized/);
  });
});

describe('nodes that come and go', () => {
  test('a worker added after the bootstrap machine is gone becomes Ready, with a serving certificate', async () => {
    await cli('node', 'add', 'worker-1', '--dir', dir);
    expect(await readyNodes()).toEqual([...everybody, 'worker-1']);
    await eventually('a serving certificate of worker-1', 60, async () => {
      const found = await inside(infraId, 'worker-1', 'ls /var/lib/kubelet/pki');
      return found.includes('kubelet-server-current.pem') ? true : undefined;
    });
  });

  test('a removed worker is gone from the cluster, the inventory and the host', async () => {
    await cli('node', 'remove', 'worker-1', '--dir', dir);
    expect(await readyNodes()).toEqual(everybody);
    expect((await list(infraId)).map(({ name }) => name)).not.toContain('worker-1');
    const inventory = await kubectlJson<{ data: Record<string, string> }>(
      'get',
      'configmap',
      '-n',
      'kube-system',
      'firstlight-inventory',
    );
    expect(JSON.stringify(inventory.data)).not.toContain('worker-1');
  });

  test('the API answers while a master is off, and the master comes back', async () => {
    await cli('machine', 'stop', '--cluster', infraId, 'master-1');
    // The load balancer needs a moment to see which machine is gone; a connection to that one may be cut meanwhile.
    for (let look = 0; look < 8; look += 1) {
      await eventually('an answer of the API', 10, async () => {
        const { code, stdout } = await startCli(['kubectl', '--dir', dir, 'get', '--raw', '/readyz']).outcome;
        return code === 0 && stdout === 'ok' ? true : undefined;
      });
    }
    await cli('machine', 'start', '--cluster', infraId, 'master-1');
    const ready = await eventually('that master-1 is Ready again', 180, async () => {
      const names = await readyNodes().catch((): readonly string[] => []);
      return names.includes('master-1') ? names : undefined;
    });
    expect(ready).toEqual(everybody);
  });
});

describe('a master whose disk is lost', () => {
  test('is made anew by the same road, and votes', async () => {
    await cli('machine', 'destroy', '--cluster', infraId, 'master-2');
    await cli('node', 'add', 'master-2', '--dir', dir);
    expect(await readyNodes()).toEqual(everybody);
    expect(JSON.parse(await cli('status', '--dir', dir, '-o', 'json'))).toMatchObject({ etcdVoters: masters });
    // Asked from outside: the container of etcd holds no key of a client.
    const members = (await etcdctl({ dir, infraId }, 'master-0', 'member', 'list')) ?? '';
    expect(members.split('\n').filter((line) => line.includes('started') && line.endsWith('false'))).toHaveLength(3);
  });
});

describe('the end', () => {
  test('kubeconfig --merge adds the cluster to what a person has', async () => {
    const mine = join(folder, 'my-kubeconfig');
    process.env['KUBECONFIG'] = mine;
    await cli('kubeconfig', '--merge', '--dir', dir);
    delete process.env['KUBECONFIG'];
    expect(parse(readFileSync(mine, 'utf8'))).toMatchObject({ 'current-context': infraId });
  });

  test('destroy leaves no trace on the host', async () => {
    await cli('destroy', 'cluster', '--dir', dir);
    expect(traces(before, hostPicture())).toEqual([]);
  });
});
