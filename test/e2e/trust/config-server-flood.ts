// Strangers and machines against the config servers of a running cluster, from inside its network: floods of every kind
// delay no honest machine, and the keys of masters are given to nobody who asks for them a second time.
import { execFileSync, spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { tokensPerAddress } from '../../../src/config-server/token-quota.ts';
import type { IgnitionConfig } from '../../../src/ignition/config.ts';
import { masters } from '../fire/fire-cluster.ts';
import { eventually, inside, list } from '../machine-lab.ts';
import { type TrustCluster, trustKubectl, trustKubectlJson } from './trust-cluster.ts';

/** Further addresses of the attacker: whoever is in the network can take them. */
const forged = Array.from({ length: 8 }, (_, index) => `10.99.0.${201 + index}`);
const balancer = '10.99.0.1';

interface Pointer {
  readonly token: string;
  readonly url: URL;
  readonly caPem: string;
}

export function configServerFloodTopic(cluster: TrustCluster): void {
  let addresses: ReadonlyMap<string, string>;
  let device: string;
  const address = (machine: string): string => addresses.get(machine) ?? '';
  const within = (machine: string): readonly string[] => [
    `--net=/run/netns/firstlight.${cluster.infraId()}.${machine}`,
  ];
  const run = (machine: string, ...command: readonly string[]): string =>
    execFileSync('nsenter', [...within(machine), ...command], { encoding: 'utf8', timeout: 30_000 });

  const pointerOf = (pool: 'master' | 'worker'): Pointer => {
    const { ignition } = JSON.parse(readFileSync(join(cluster.dir, `${pool}.ign`), 'utf8')) as IgnitionConfig;
    const [source] = ignition.config?.merge ?? [];
    const token = source?.httpHeaders?.[0]?.value?.replace('Bearer ', '') ?? '';
    const ca = ignition.security?.tls?.certificateAuthorities?.[0]?.source ?? '';
    const caPem = Buffer.from(ca.slice(ca.indexOf(',') + 1), ca.includes(';base64,') ? 'base64' : 'utf8').toString();
    return {
      token,
      url: new URL(source?.source ?? ''),
      caPem: caPem.includes('%') ? decodeURIComponent(caPem) : caPem,
    };
  };

  /** curl in the network of a machine: the status, the body and how long it took. */
  const ask = (machine: string, path: string, token: string, to = balancer, more: readonly string[] = []) => {
    const { url, caPem } = pointerOf('worker');
    writeFileSync(join(cluster.folder, 'config-server-ca.crt'), caPem);
    const trusted = ['--cacert', join(cluster.folder, 'config-server-ca.crt'), '--max-time', '10'];
    const where = ['--resolve', `${url.hostname}:${url.port}:${to}`, '-w', '\n%{http_code}'];
    const who = ['-H', `Authorization: Bearer ${token}`, '-H', 'Idempotency-Key: chosen-by-somebody-here'];
    const startMs = performance.now();
    const text = run(machine, 'curl', '-sS', ...trusted, ...more, ...where, ...who, `${url.origin}${path}`);
    const at = text.lastIndexOf('\n');
    return { status: text.slice(at + 1), body: text.slice(0, at), ms: performance.now() - startMs };
  };
  const tokenIn = (body: string): string => /token%3A%20([a-z0-9]{6}\.[a-z0-9]{16})/.exec(body)?.[1] ?? '';

  beforeAll(async () => {
    addresses = new Map((await list(cluster.infraId())).map((machine) => [machine.name, machine.address]));
    device = /dev (\S+)/.exec(run('worker-0', 'ip', 'route', 'show', 'default'))?.[1] ?? '';
    for (const one of forged) run('worker-0', 'ip', 'address', 'add', `${one}/24`, 'dev', device);
  });

  afterAll(async () => {
    for (const one of forged) run('worker-0', 'ip', 'address', 'delete', `${one}/24`, 'dev', device);
    const tokens = ['--field-selector=type=bootstrap.kubernetes.io/token', '--namespace=kube-system'];
    await trustKubectl(cluster, 'delete', 'secrets', ...tokens);
  });

  test('each master that was given the signers is named by an Event, with its address and its token', async () => {
    const { items } = await trustKubectlJson<{
      items: readonly { readonly reason: string; readonly message: string }[];
    }>(cluster, 'get', 'events', '--namespace=kube-system');
    const given = items.filter(({ reason }) => reason === 'MasterKeysGiven').map(({ message }) => message);
    const tokens = masters.map((master) =>
      given.flatMap((message) => message.split(`to ${master} at ${address(master)}, for token `)[1] ?? []),
    );
    // A master that was made anew was given them again, for another token.
    for (const own of tokens) expect(own.length).toBeGreaterThanOrEqual(1);
    expect(new Set(tokens.flat()).size).toBe(given.length);
  });

  test('whoever found master.ign gets no keys: not at another address, not as a master that runs, not without the balancer', () => {
    const { token } = pointerOf('master');
    for (const [machine, to] of [
      ['worker-0', balancer],
      ['worker-0', address('master-0')],
      ['master-1', balancer],
      ['master-1', address('master-2')],
    ] as const) {
      const config = ask(machine, '/config/master', token, to);
      expect(config.status).toBe('200');
      expect(ask(machine, '/keys/master', tokenIn(config.body), to).status).toBe('511');
    }
    // A token of one machine in the hands of another.
    const issued = tokenIn(ask('master-1', '/config/master', token).body);
    expect(ask('worker-0', '/keys/master', issued).status).toBe('511');
  });

  test('the log of the servers says why', async () => {
    const reasons = await eventually('both reasons in the logs', 10, async () => {
      const logs = await Promise.all(
        masters.map((master) => inside(cluster.infraId(), master, 'journalctl -u machine-config-server -o cat')),
      );
      const found = ['not-listed', 'live'].filter((detail) => logs.join('').includes(`"detail":"${detail}"`));
      return found.length === 2 ? found : undefined;
    });
    expect(reasons).toEqual(['not-listed', 'live']);
  });

  test('half handshakes, guesses and a pool token without end, from nine addresses, delay no honest machine', async () => {
    const script = new URL('flood-client.ts', import.meta.url).pathname;
    const { token } = pointerOf('worker');
    const from = [address('worker-0'), ...forged];
    // 1,440 halves at one server. What they would cost in one queue, test/oracle/config-server-flood.test.ts shows.
    const servers = {
      half: [address('master-0')],
      guess: [balancer, address('master-0')],
      machine: [balancer, address('master-0')],
    };
    const floods = Object.entries(servers).flatMap(([kind, targets]) =>
      targets.map((to) => {
        const args = [...within('worker-0'), process.execPath, script, kind, to, '15', token, ...from];
        const child = spawn('nsenter', args, { stdio: ['ignore', 'pipe', 'inherit'] });
        let text = '';
        child.stdout.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
        return new Promise<string>((resolve) => child.once('close', () => resolve(`${kind} ${to} ${text.trim()}`)));
      }),
    );
    await new Promise((resolve) => setTimeout(resolve, 3_000));
    // As Ignition does: on a busy host the balancer may cut a connection to a server that it takes for dead.
    const again = ['--retry', '9', '--retry-all-errors', '--retry-delay', '1', '--retry-max-time', '10'];
    const seen = [address('master-0'), balancer, balancer].map((to) =>
      ask('master-1', '/config/worker', token, to, again),
    );
    const report = `${(await Promise.all(floods)).join('\n')}\n${seen.map(({ ms }) => Math.round(ms)).join(' ')} ms`;
    expect(
      seen.map(({ status }) => status),
      report,
    ).toEqual(['200', '200', '200']);
    for (const { ms } of seen) expect(ms, report).toBeLessThan(10_000);
  });

  test('afterwards the address of the flood has had its share of tokens, and masters still join', () => {
    const { token } = pointerOf('worker');
    // Each server counts what the two others issued a moment later, and a slow host may not have sent enough.
    const most = masters.length * tokensPerAddress;
    let more = 0;
    while (more <= most && ask('worker-0', '/config/worker', token).status === '200') more += 1;
    expect(more).toBeLessThanOrEqual(most);
    expect(ask('master-2', '/config/master', pointerOf('master').token).status).toBe('200');
  });
}
