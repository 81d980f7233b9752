// Real machines, driven through the program as a person would. The tests of this file share their machines and run in
// order: each describes one promise of the local platform.
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { dataUrl, ignitionVersion, writeIgnition } from './ignition-file.ts';
import {
  cli,
  eventually,
  hostPicture,
  inside,
  list,
  makeCa,
  makeSshKey,
  pidsOf,
  serveTls,
  startCli,
  type TestServer,
  temporaryFolder,
  traces,
} from './machine-lab.ts';

const suffix = String(process.pid);
const one = `e2e-one-${suffix}`;
const two = `e2e-two-${suffix}`;
const domain = `${one}.firstlight.test`;
const switchAddress = '10.99.0.1';

const folder = temporaryFolder();
const ca = makeCa(folder);
const sshKey = makeSshKey();
const servers: TestServer[] = [];
let before: ReturnType<typeof hostPicture>;

const ignitionFile = (name: string, config: object): string => writeIgnition(join(folder, name), config);

const helloUnit = `[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=/bin/sh -c 'echo started >> /var/lib/hello.log'
[Install]
WantedBy=multi-user.target
`;

const remoteUrl = `https://switch.${domain}:8443/config/worker`;
/** Everything of this comes over TLS from a server whose authority only the pointer names. */
const remote = {
  ignition: { version: ignitionVersion },
  storage: {
    files: [{ path: '/etc/remote', mode: 0o600, contents: { source: dataUrl('from afar') } }],
  },
};
const pointer = ignitionFile('pointer.ign', {
  ignition: {
    config: { merge: [{ source: remoteUrl }] },
    security: { tls: { certificateAuthorities: [{ source: dataUrl(ca.certificate) }] } },
  },
  storage: {
    directories: [{ path: '/opt/data', mode: 0o750, user: { id: 1234 }, group: { id: 4321 } }],
    files: [
      {
        path: '/etc/secret',
        mode: 0o640,
        user: { name: 'core' },
        group: { name: 'daemon' },
        contents: { source: dataUrl('hush') },
      },
    ],
    links: [{ path: '/etc/link', target: '/etc/secret' }],
  },
  passwd: { users: [{ name: 'core', uid: 1500, shell: '/bin/bash', sshAuthorizedKeys: [sshKey.publicKey] }] },
  systemd: { units: [{ name: 'hello.service', enabled: true, contents: helloUnit }] },
});
const plain = ignitionFile('plain.ign', {
  storage: { files: [{ path: '/root/key', mode: 0o600, contents: { source: dataUrl(sshKey.privateKey) } }] },
});
const broken = ignitionFile('broken.ign', {
  storage: { files: [{ path: '/etc/x', user: { name: 'nobody-knows-me' }, contents: { source: 'data:,x' } }] },
});

async function listed(cluster: string, machine: string) {
  const found = (await list(cluster)).find((candidate) => candidate.name === machine);
  if (found === undefined) throw new Error(`no machine ${machine}`);
  return found;
}

beforeAll(() => {
  before = hostPicture();
});

afterAll(async () => {
  for (const server of servers) server.stop();
  for (const cluster of [one, two]) await cli('machine', 'destroy', '--all', '--cluster', cluster);
  rmSync(folder, { recursive: true });
});

describe('a host', () => {
  test('says what it is and that it can run machines', async () => {
    const seen = JSON.parse(await cli('doctor', '-o', 'json')) as Record<string, unknown>;
    expect(seen).toMatchObject({ problems: [], detected: { isRoot: true, hasOverlayfs: true } });
  });
});

describe('a new machine', () => {
  test('says from outside what its first boot waits for', async () => {
    await cli('machine', 'create', '--cluster', one, '--ignition', pointer, '--no-wait', 'a');
    const machine = await eventually('a refused connection', 60, async () => {
      const seen = await listed(one, 'a');
      return seen.detail.includes('refused') ? seen : undefined;
    });
    expect(machine).toMatchObject({ state: 'first-boot', address: '10.99.0.10' });
    expect(machine.detail).toMatch(new RegExp(`^waiting for ${remoteUrl}: connection refused, \\d+ s$`));
  });

  test('fetches the rest of its config over TLS from a server it was told to trust, and boots', async () => {
    const answers = { '/config/worker': JSON.stringify(remote) };
    const leaf = ca.issue(`switch.${domain}`);
    const server = await serveTls(`firstlight.${one}`, {
      address: switchAddress,
      port: 8443,
      ...leaf,
      answers,
      proxy: false,
    });
    servers.push(server);
    await cli('machine', 'create', '--cluster', one, '--ignition', pointer, 'a');
    expect(server.requests()).toEqual(['10.99.0.10 /config/worker']);
    expect(await listed(one, 'a')).toMatchObject({ state: 'running', detail: 'first boot done' });
    expect(await inside(one, 'a', 'stat -c "%a %U" /etc/remote; cat /etc/remote')).toBe('600 root\nfrom afar');
  });

  test('has files with the modes and owners, the links, the folder and the user that Ignition was told to make', async () => {
    const seen = await inside(
      one,
      'a',
      'stat -c "%a %U %G %u %g" /etc/secret /opt/data; readlink /etc/link; cat /etc/link; id core',
    );
    expect(seen.split('\n')).toEqual([
      '640 core daemon 1500 1',
      '750 UNKNOWN UNKNOWN 1234 4321',
      '/etc/secret',
      'hushuid=1500(core) gid=1500(core) groups=1500(core)',
      '',
    ]);
  });

  test('runs the unit that Ignition enabled, and keeps no copy of its config', async () => {
    expect(
      await inside(one, 'a', 'systemctl is-enabled hello; systemctl is-active hello; cat /var/lib/hello.log'),
    ).toBe('enabled\nactive\nstarted\n');
    expect(await inside(one, 'a', 'ls /etc/firstlight; hostname; systemctl is-system-running')).toBe(
      'api-mounts.sh\na\nrunning\n',
    );
  });

  test('applies the settings of the kernel only when they can be written', async () => {
    expect(await inside(one, 'a', 'systemctl show systemd-sysctl')).toMatch(/^After=.*firstlight-api-mounts.service/m);
  });

  test('lets the user in by SSH key from another machine, by name', async () => {
    await cli('machine', 'create', '--cluster', one, '--ignition', plain, 'b');
    const ssh = 'ssh -i /root/key -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o BatchMode=yes';
    expect(await inside(one, 'b', `${ssh} core@a 'id -un; hostname' 2>/dev/null`)).toBe('core\na\n');
  });
});

describe('a machine that exists', () => {
  test('does not repeat its first boot when it reboots', async () => {
    const count = 'journalctl --no-pager -u firstlight-firstboot | grep -c "Ignition finished successfully"';
    const first = await inside(one, 'a', `${count}; cat /proc/sys/kernel/random/boot_id`);
    await cli('machine', 'reboot', '--cluster', one, 'a');
    const second = await inside(one, 'a', `${count}; cat /proc/sys/kernel/random/boot_id; cat /var/lib/hello.log`);
    expect(second.split('\n').slice(0, 1)).toEqual(first.split('\n').slice(0, 1));
    expect(second.split('\n')[1]).not.toBe(first.split('\n')[1]);
    expect(second.split('\n').slice(2)).toEqual(['started', 'started', '']);
  });

  test('reboots though commands still run inside it, and they end', async () => {
    const sessions = Array.from({ length: 8 }, () =>
      startCli(['machine', 'exec', '--cluster', one, 'a', '--', 'sleep', '1000']),
    );
    const running = 'pgrep --exact --count sleep || true';
    await eventually('that all of them run', 30, async () =>
      Number(await inside(one, 'a', running)) === sessions.length ? true : undefined,
    );
    await cli('machine', 'reboot', '--cluster', one, 'a');
    const codes = await Promise.all(sessions.map(async ({ outcome }) => (await outcome).code));
    expect(codes.every((code) => code !== 0)).toBe(true);
    expect(await inside(one, 'a', running)).toBe('0\n');
  });

  test('loses routes and packet filters of its last life, and finds its own network again', async () => {
    await inside(
      one,
      'a',
      'ip route add 192.0.2.0/24 via 10.99.0.1; nft add table ip mine; echo 1 > /proc/sys/net/ipv4/ip_forward',
    );
    await cli('machine', 'reboot', '--cluster', one, 'a');
    expect(await inside(one, 'a', 'ip route; nft list ruleset; getent hosts b')).toBe(
      'default via 10.99.0.1 dev eth0 \n10.99.0.0/24 dev eth0 proto kernel scope link src 10.99.0.10 \n10.99.0.11      b.' +
        `${domain}\n`,
    );
  });

  test('is stopped and started again, and its journal can be read while it is stopped', async () => {
    await cli('machine', 'stop', '--cluster', one, 'a');
    expect(await listed(one, 'a')).toMatchObject({ state: 'stopped' });
    expect(await cli('machine', 'logs', '--cluster', one, 'a', '-o', 'json', '-u', 'hello.service')).toContain(
      'hello.service',
    );
    const { code, stderr } = await startCli(['machine', 'exec', '--cluster', one, 'a', '--', 'true']).outcome;
    expect({ code, stderr }).toMatchObject({
      code: 4,
      stderr: expect.stringContaining('PLATFORM_NOT_RUNNING') as string,
    });
    await cli('machine', 'start', '--cluster', one, 'a');
    expect(await listed(one, 'a')).toMatchObject({ state: 'running' });
  });

  test('is not silently given another config', async () => {
    const { code, stderr } = await startCli(['machine', 'create', '--cluster', one, '--ignition', plain, 'a']).outcome;
    expect({ code, stderr }).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('another Ignition config') as string,
    });
  });

  test('whose config cannot be applied says why, and starts no service', async () => {
    const { code, stderr } = await startCli(['machine', 'create', '--cluster', one, '--ignition', broken, 'c']).outcome;
    expect(code).toBe(4);
    expect(stderr).toContain('PLATFORM_FIRST_BOOT_FAILED');
    expect(stderr).toContain('nobody-knows-me');
    expect(await listed(one, 'c')).toMatchObject({ state: 'first-boot-failed' });
    expect(await inside(one, 'c', 'systemctl is-active ssh.socket multi-user.target || true')).toBe(
      'inactive\ninactive\n',
    );
    await cli('machine', 'stop', '--cluster', one, 'c');
    const again = await startCli(['machine', 'start', '--cluster', one, 'c']).outcome;
    expect(again.stderr).toContain('nobody-knows-me');
    await cli('machine', 'destroy', '--cluster', one, 'c');
    expect(existsSync(`/run/netns/firstlight.${one}.c`)).toBe(false);
  });

  test('is made anew while the kernel has not yet let go of the network of its last life', async () => {
    // Whoever knows the switch by its hardware address must not lose it when others come and go.
    const show = ['-n', `firstlight.${one}`, '-brief', 'link', 'show', 'bridge'];
    const switchAsSeen = (): string => execFileSync('ip', show, { encoding: 'utf8' });
    const before = switchAsSeen();
    const create = ['machine', 'create', '--cluster', one, '--ignition', plain, 'd'];
    await cli(...create);
    const { address } = await listed(one, 'd');
    const holder = spawn('nsenter', [`--net=/run/netns/firstlight.${one}.d`, 'sleep', '60'], { stdio: 'ignore' });
    onTestFinished(() => void holder.kill());
    await eventually('that the network is held', 5, async () => (pidsOf('sleep 60').length > 0 ? true : undefined));
    await cli('machine', 'destroy', '--cluster', one, 'd');
    await cli(...create);
    expect(await listed(one, 'd')).toMatchObject({ state: 'running', address });
    expect(switchAsSeen()).toBe(before);
    await cli('machine', 'destroy', '--cluster', one, 'd');
  });
});

describe('the load balancer', () => {
  const status = (port: number): Promise<number | undefined> =>
    new Promise((done) => {
      const options = {
        host: '127.0.0.1',
        port,
        path: '/readyz',
        ca: ca.certificate,
        servername: `api.${domain}`,
        timeout: 2_000,
      };
      request(options, (response) => done(response.resume().statusCode))
        .on('error', () => done(undefined))
        .end();
    });
  const hostPort = async (): Promise<number> => {
    const file = `/var/lib/firstlight/clusters/${one}/cluster.json`;
    return (JSON.parse(execFileSync('cat', [file], { encoding: 'utf8' })) as { hostPort: number }).hostPort;
  };

  test('brings the API of a ready master to the host’s loopback within a second, and leaves it out when it is gone', async () => {
    await cli('machine', 'create', '--cluster', one, '--ignition', plain, '--role', 'master', 'm');
    const { address } = await listed(one, 'm');
    const port = await hostPort();
    expect(await status(port)).toBeUndefined();
    const leaf = ca.issue(`api.${domain}`);
    const settings = { address, port: 6443, ...leaf, answers: { '/readyz': 'ok' }, proxy: false };
    const server = await serveTls(`firstlight.${one}.m`, settings);
    servers.push(server);
    expect(await eventually('an answer of the API', 1, () => status(port))).toBe(200);
    server.stop();
    await eventually('the end of the API', 2, async () => ((await status(port)) === undefined ? true : undefined));
  });

  test('tells the config server who really asked, by PROXY protocol', async () => {
    const { address } = await listed(one, 'm');
    const leaf = ca.issue(`api-int.${domain}`);
    const answers = { '/healthz': 'ok', '/config/master': '{}' };
    const server = await serveTls(`firstlight.${one}.m`, { address, port: 22_623, ...leaf, answers, proxy: true });
    servers.push(server);
    writeFileSync(join(folder, 'fetch.mjs'), fetchScript);
    const url = `https://api-int.${domain}:22623/config/master`;
    const fetchFrom = (machine: string): string =>
      execFileSync(
        'nsenter',
        [`--net=/run/netns/firstlight.${one}.${machine}`, process.execPath, join(folder, 'fetch.mjs'), url],
        {
          encoding: 'utf8',
          env: { ...process.env, CA: ca.certificate, ADDRESS: switchAddress },
        },
      );
    await eventually('a healthy config server', 2, async () => (fetchFrom('b') === '200' ? true : undefined));
    const line = '10.99.0.11 /config/master';
    await eventually('a request with its source', 2, async () => (server.requests().includes(line) ? true : undefined));
    expect(server.requests().filter((request) => request.endsWith('master'))).toContain(line);
  });

  test('and the name server are started again by the next command when they died', async () => {
    const pids = ['load-balancer-', 'host-port-', 'name-server-'].map((name) =>
      pidsOf(`clusters/${one}/switch/${name}`),
    );
    expect(pids.map((found) => found.length)).toEqual([1, 1, 1]);
    for (const pid of pids.flat()) process.kill(pid, 'SIGKILL');
    await cli('machine', 'start', '--cluster', one, 'b');
    expect(await inside(one, 'b', 'getent hosts api-int')).toBe(`${switchAddress}       api-int.${domain}\n`);
    expect(pidsOf(`clusters/${one}/switch/load-balancer-`)).toHaveLength(1);
    expect(pidsOf(`clusters/${one}/switch/host-port-`)).toHaveLength(1);
  });
});

const fetchScript = `import { request } from 'node:https';
const url = new URL(process.argv[2]);
request({ host: process.env.ADDRESS, port: url.port, path: url.pathname, servername: url.hostname, ca: process.env.CA, timeout: 2000 },
  (response) => { response.resume(); process.stdout.write(String(response.statusCode)); })
  .on('error', (error) => process.stdout.write(error.code ?? 'error')).end();
`;

describe('two clusters', () => {
  test('with the same addresses never meet', async () => {
    await cli('machine', 'create', '--cluster', two, '--ignition', plain, 'a');
    const addresses = (await list(two)).map((machine) => machine.address);
    expect(addresses).toEqual(['10.99.0.10']);
    // 10.99.0.11 is machine b of the other cluster, whose SSH port is open.
    const knock = (address: string): string =>
      `timeout 5 sh -c 'exec 3<>/dev/tcp/${address}/22' 2>&1 && echo open || echo shut`;
    const bash = (script: string): string => `bash -c "${script}"`;
    expect(await inside(one, 'a', bash(knock('10.99.0.11').replace('sh -c', 'bash -c')))).toContain('open');
    expect(await inside(two, 'a', bash(knock('10.99.0.11').replace('sh -c', 'bash -c')))).toContain('shut');
    expect(await inside(two, 'a', 'getent hosts b || echo unknown')).toBe('unknown\n');
    expect(await cli('machine', 'list', '--all-clusters')).toMatch(new RegExp(`${one} +b .*\\n(.*\\n)*${two} +a `));
  });
});

describe('kill -9 of the program', () => {
  test('while it makes machines: the same command finishes the work', async () => {
    const create = ['machine', 'create', '--cluster', two, '--ignition', plain, 'k1', 'k2'];
    for (const delayMs of [250, 400, 550, 700]) {
      const { child, outcome } = startCli(create);
      await new Promise((done) => setTimeout(done, delayMs));
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
      await outcome;
    }
    await cli(...create);
    const states = (await list(two)).map(({ name, state }) => [name, state]);
    expect(states).toEqual([
      ['a', 'running'],
      ['k1', 'running'],
      ['k2', 'running'],
    ]);
    expect(pidsOf(`--machine=k1.${two}`)).toHaveLength(1);
  });

  test('while it destroys machines: the same command finishes the work', async () => {
    const destroy = ['machine', 'destroy', '--cluster', two, '--all'];
    const all = pidsOf(`.${two}`).length;
    const { child, outcome } = startCli(destroy);
    // The first machine has ended, and all that it had is still there.
    while (pidsOf(`.${two}`).length >= all) await new Promise((done) => setTimeout(done, 5));
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    expect((await outcome).code).toBeNull();
    await cli(...destroy);
    expect(await list(two)).toEqual([]);
  });
});

describe('destroy', () => {
  test('leaves nothing on the host: no process, mount, namespace, control group, rule or folder', async () => {
    for (const server of servers) server.stop();
    await cli('machine', 'destroy', '--cluster', one, '--all');
    const left = await eventually('a clean host', 5, async () => {
      const found = traces(before, hostPicture());
      return found.length === 0 ? [] : undefined;
    }).catch(() => traces(before, hostPicture()));
    expect(left).toEqual([]);
  });
});
