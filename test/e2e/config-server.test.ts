// The config server where it works: a static pod of the real kubelet on a bootstrap machine, behind the real haproxy, asked
// by the real Ignition of machines in their own network namespaces. The tests share the machines and run in order.
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { servedPaths } from '../../src/config-server/served-config.ts';
import { daemonFiles } from '../../src/contract/machine-config-node.ts';
import { bootstrapFolder, configServerPaths } from '../../src/contract/machine-paths.ts';
import type { IgnitionConfig } from '../../src/ignition/config.ts';
import { issueSigner } from '../../src/pki/issue.ts';
import { type Lab, makeLab, tokens } from '../oracle/config-server-lab.ts';
import { pointerConfig } from '../oracle/ignition-fetch.ts';
import { sampleRandom } from '../oracle/pki-sample.ts';
import { cli, eventually, inside, list, temporaryFolder } from './machine-lab.ts';
import { file, staticPodIgnition } from './static-pod.ts';

const cluster = `e2e-mcs-${process.pid}`;
/** That of the lab's certificates. */
const domain = 'demo.firstlight.test';
const server = `https://api-int.${domain}:22623`;
const switchAddress = '10.99.0.1';
const folder = temporaryFolder();
let lab: Lab;

function ignitionFile(name: string, config: object): string {
  const path = join(folder, `${name}.ign`);
  writeFileSync(path, JSON.stringify(config));
  return path;
}

async function create(name: string, config: object, ...args: readonly string[]): Promise<void> {
  const path = ignitionFile(name, config);
  await cli('machine', 'create', '--cluster', cluster, '--domain', domain, '--ignition', path, ...args, name);
}

/** Every file below a folder of the lab, as it lies on the bootstrap machine. */
function labFiles(from: string, to: string): readonly object[] {
  const root = lab.at(from);
  const paths = readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
  return paths.map((path) => file(join(to, relative(root, path)), readFileSync(path, 'utf8')));
}

async function bootstrapConfig(): Promise<object> {
  const release = JSON.parse(await cli('release', 'info', '-o', 'json')) as { images: readonly { tag: string }[] };
  const image = release.images.find(({ tag }) => tag.includes('/firstlight:'))?.tag ?? '';
  const pod = JSON.parse(await cli('machine-config', 'serve', '--static-pod', image, '-o', 'json')) as object;
  return staticPodIgnition({
    pods: { 'machine-config-server': pod },
    files: [
      file(configServerPaths.settings, JSON.stringify({ balancers: [switchAddress] })),
      file(configServerPaths.poolTokens, readFileSync(lab.at('pool-tokens.json'), 'utf8')),
      file(configServerPaths.kubeconfig, readFileSync(lab.at('kubeconfig'), 'utf8')),
      ...labFiles('rendered', configServerPaths.renderedFolder),
      ...labFiles('tls', configServerPaths.pkiFolder),
      // As bootkube leaves them there; none of the server's business.
      file(`${bootstrapFolder}/auth/kubeconfig-loopback`, 'users:\n- user:\n    client-key-data: QQ==\n'),
      file(`${bootstrapFolder}/render/05-config/etcd/etcd-server.key`, lab.pair().key.privatePem.reveal()),
    ],
  });
}

interface LogLine extends Record<string, unknown> {
  readonly text: string;
}

/** What the server has logged, as the container runtime keeps it. */
async function serverLog(): Promise<readonly LogLine[]> {
  const text = await inside(
    cluster,
    'bootstrap',
    'cat /var/log/pods/kube-system_machine-config-server-*/*/*.log || true',
  );
  return text.split('\n').flatMap((line) => {
    const [, json] = /^\S+ std\w+ F (\{.*\})$/.exec(line) ?? [];
    return json === undefined ? [] : [JSON.parse(json) as LogLine];
  });
}

async function logged(what: string, fits: (line: LogLine) => boolean): Promise<LogLine> {
  return eventually(what, 20, async () => (await serverLog()).find(fits));
}

async function machine(name: string) {
  const found = (await list(cluster)).find((one) => one.name === name);
  if (found === undefined) throw new Error(`no machine ${name}`);
  return found;
}

/** The host's curl in the network of a machine, with the machine's view of names. */
function curlFrom(name: string, args: readonly string[]): string {
  const resolved = ['--resolve', `api-int.${domain}:22623:${switchAddress}`, '--cacert', join(folder, 'ca.crt')];
  const network = [`--net=/run/netns/firstlight.${cluster}.${name}`];
  return execFileSync('nsenter', [...network, 'curl', '-sS', '--max-time', '10', ...resolved, ...args], {
    encoding: 'utf8',
  });
}

beforeAll(async () => {
  lab = makeLab();
  writeFileSync(join(folder, 'ca.crt'), lab.rootCa.certificatePem);
  await create('bootstrap', await bootstrapConfig(), '--role', 'bootstrap');
}, 120_000);

afterAll(async () => {
  await cli('machine', 'destroy', '--all', '--cluster', cluster);
  lab?.[Symbol.dispose]();
  rmSync(folder, { recursive: true });
});

const otherCa = (): string =>
  issueSigner(
    { subject: { commonName: 'other', organizations: [] }, validityDays: 10 },
    { random: sampleRandom('other'), now: new Date() },
  ).certificatePem;

describe('the config server as a static pod', () => {
  test('is started by the real kubelet and is healthy by its own probe and the load balancer’s', async () => {
    await logged('the start of the server', ({ text }) => text === 'serving on port 22623');
    await create(
      'worker',
      pointerConfig({ token: tokens.worker, pool: 'worker', caPem: lab.rootCa.certificatePem, server }),
      '--no-wait',
    );
    const health = await eventually('an answer through the load balancer', 20, async () => {
      try {
        return curlFrom('worker', [`${server}/healthz`]);
      } catch {
        return undefined;
      }
    });
    expect(JSON.parse(health)).toEqual({ status: 'ok' });
  });

  test('sees of all keys of the machine those that it gives to masters and its own, and has no capability', async () => {
    const script = [
      'pid=$(pgrep -o -f "machine-config serve")',
      'grep -E "^Cap(Prm|Eff|Bnd)" /proc/$pid/status',
      'cd /proc/$pid/root',
      `key='^-----BEGIN ([A-Z]+ )?PRIVATE KEY-----|client-key-data:'`,
      'grep -rlIE --devices=skip "$key" $(ls -d * | grep -vxE "proc|sys|dev|usr") 2>/dev/null | sort',
    ].join('\n');
    const found = (await inside(cluster, 'bootstrap', script)).trim().split('\n');
    expect(found.slice(0, 3).map((line) => line.replace(/\s+/, ' '))).toEqual(
      ['CapPrm', 'CapEff', 'CapBnd'].map((set) => `${set}: 0000000000000000`),
    );
    const given = readdirSync(lab.at('tls')).filter((name) => name.endsWith('.key'));
    expect(found.slice(3)).toEqual(given.map((name) => `opt/firstlight/tls/${name}`).sort());
    const machineWide = await inside(cluster, 'bootstrap', 'find /opt/firstlight -name "*.key" -not -path "*/tls/*"');
    expect(machineWide).toContain('05-config/etcd/etcd-server.key');
  });
});

describe('a machine that boots from a pointer', () => {
  test('is given its configuration by the real Ignition, and the server knows it by its own address', async () => {
    const { address } = await eventually('the end of its first boot', 60, async () => {
      const seen = await machine('worker');
      return seen.detail === 'first boot done' ? seen : undefined;
    });
    // The agent puts it aside as soon as it has taken the configuration over.
    const { encapsulated: _, ...others } = servedPaths;
    const paths = [...Object.values(others), daemonFiles.encapsulatedDone];
    const modes = await eventually('that the configuration is taken over', 30, () =>
      inside(cluster, 'worker', `stat -c '%a %n' ${paths.join(' ')}`).catch(() => undefined),
    );
    expect(modes.trim().split('\n').sort()).toEqual(
      [
        `600 ${servedPaths.kubeletClientCa}`,
        `644 ${servedPaths.nodeAnnotations}`,
        `600 ${servedPaths.bootstrapKubeconfig}`,
        `600 ${servedPaths.machineConfig}`,
        `600 ${daemonFiles.encapsulatedDone}`,
      ].sort(),
    );
    // The agent enables it when there is an API that knows the machine; here is none.
    expect(await inside(cluster, 'worker', 'systemctl is-enabled kubelet.service || true')).toBe('disabled\n');
    const line = await logged('the answer', ({ reason, address: from }) => reason === 'served' && from === address);
    expect(line).toMatchObject({
      from: 'balancer',
      pool: 'worker',
      spec: '3.5.0',
      agent: expect.stringMatching(/^Ignition/),
    });
    const token = /token: (\S+)/.exec(await inside(cluster, 'worker', `cat ${servedPaths.bootstrapKubeconfig}`))?.[1];
    const ledger = await inside(cluster, 'bootstrap', `cat ${configServerPaths.tokenLedger}`);
    const records = ledger
      .trim()
      .split('\n')
      .map((text) => JSON.parse(text) as Record<string, string>);
    expect(records.find((record) => record['token'] === token)).toMatchObject({ pool: 'worker', issuedTo: address });
    expect(JSON.stringify(await serverLog())).not.toContain(token);
  });

  test('with a wrong token, an expired one or another CA it does not end, and both sides say why', async () => {
    const caPem = lab.rootCa.certificatePem;
    const pool = 'master';
    const role = ['--role', 'worker', '--no-wait'];
    await create('wrong', pointerConfig({ token: tokens.wrong, pool, caPem, server }), ...role);
    await create('expired', pointerConfig({ token: tokens.expired, pool, caPem, server }), ...role);
    await create('stranger', pointerConfig({ token: tokens.master, pool, caPem: otherCa(), server }), ...role);
    const addressOf = async (name: string): Promise<string> => (await machine(name)).address;
    const refusals = [
      [await addressOf('wrong'), 'unknown'],
      [await addressOf('expired'), 'expired'],
    ] as const;
    for (const [from, detail] of refusals) {
      const line = await logged(`the refusal of ${from}`, (one) => one['address'] === from && one['status'] === 511);
      expect(line).toMatchObject({ from: 'balancer', reason: 'token-refused', detail });
    }
    const from = await addressOf('stranger');
    const line = await logged('the failed handshake', (one) => one['address'] === from && one['kind'] === 'tls');
    expect(line.text).toContain('does not trust our certificate');
    for (const [name, reason] of [
      ['wrong', /its token is not accepted/],
      ['expired', /its token is not accepted/],
      ['stranger', /certificate/],
    ] as const) {
      const seen = await eventually(`what ${name} waits for`, 20, async () => {
        const one = await machine(name);
        return reason.test(one.detail) ? one : undefined;
      });
      expect(seen).toMatchObject({ state: 'first-boot' });
      expect(seen.detail).toContain(`waiting for ${server}/config/master`);
    }
  });

  test.each(['3.2.0', '3.4.0', '3.5.0'])(
    'from its network curl gets spec %s, as an Ignition of it asks',
    async (spec) => {
      const accept = `Accept: application/vnd.coreos.ignition+json;version=${spec}, */*;q=0.1`;
      const headers = ['-H', accept, '-H', `Authorization: Bearer ${tokens.worker}`];
      const config = JSON.parse(curlFrom('worker', [...headers, `${server}/config/worker`])) as IgnitionConfig;
      expect(config.ignition.version).toBe(spec);
      const { address } = await machine('worker');
      const line = await logged('the answer', (one) => one['spec'] === spec && String(one['agent']).startsWith('curl'));
      expect(line).toMatchObject({ address, from: 'balancer', status: 200 });
    },
  );
});
