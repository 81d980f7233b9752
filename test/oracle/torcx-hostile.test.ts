// A bus on which strangers talk, a systemd that refuses, inputs that are missing, two runs at once, and the flags.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import dbus, { type MessageBus } from 'dbus-native';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { torcxArguments } from '../../src/torcx/program-names.ts';
import { makeWorld, openSuite, publish, type Suite, type World } from './torcx/node-world.ts';

let suite: Suite;
beforeAll(async () => {
  suite = await openSuite();
});
afterAll(() => suite[Symbol.asyncDispose]());

const calls = (): readonly (string | undefined)[] =>
  suite.bus.calls.map(({ call }) => call).filter((call) => call !== 'GetStatus');
const needReboot = (version: string) => ({ operation: 'UPDATED_NEED_REBOOT', version });
const one = [{ version: '17.03', image: 'x' }];

interface Forgery {
  readonly body: unknown[];
  /** Sent to each connection by its name, past every match rule; else to whoever listens. */
  readonly isAddressed: boolean;
  readonly signal: AbortSignal;
}

async function forge(stranger: MessageBus, { body, isAddressed, signal }: Forgery): Promise<void> {
  for (let serial = 1000; !signal.aborted; ) {
    const names = isAddressed ? (await stranger.listNames()).filter((name) => name.startsWith(':')) : [undefined];
    for (const destination of names) {
      serial += 1;
      stranger.connection.message({
        type: 4,
        serial,
        path: '/com/coreos/update1',
        interface: 'com.coreos.update1.Manager',
        member: 'StatusUpdate',
        signature: 'xdssx',
        body,
        ...(destination === undefined ? {} : { destination }),
      });
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

function expectUntouched(world: World): void {
  expect(world.has('/etc/kubernetes/kubelet.env')).toBe(false);
  expect(world.tree('/var/lib/torcx')).toEqual([]);
  expect(world.tree('/etc/torcx')).toEqual([]);
}

describe('update_engine', () => {
  test.each(['to everybody', 'straight to every connection'])(
    'a status that a stranger sends %s is ignored',
    async (how) => {
      using world = await makeWorld(suite);
      publish(suite, '1520.5.0', one);
      await suite.bus.become({
        onAttempt: [{ operation: 'CHECKING_FOR_UPDATE' }, { operation: 'IDLE', afterMs: 250 }],
      });
      const stranger = dbus.createClient({ busAddress: suite.bus.address });
      const body = [0n, 1, 'UPDATE_STATUS_UPDATED_NEED_REBOOT', '../../evil', 0n];
      const forging = new AbortController();
      const forger = forge(stranger, { body, isAddressed: how !== 'to everybody', signal: forging.signal });
      const { exit, err } = await world.bootstrap();
      forging.abort();
      await forger;
      await stranger.close();
      expect({ exit, err }).toMatchObject({ exit: 0 });
      expect(err).not.toContain('evil');
      expect(world.tree('/var/lib/torcx/store')).toEqual(['1520.5.0/docker:17.03.torcx.tgz']);
    },
  );

  test.each(['0.0.0', '', '../../evil'])(
    'a waiting update of version "%s": reboot first, decide on the new OS',
    async (version) => {
      using world = await makeWorld(suite);
      await suite.bus.become({ onAttempt: [needReboot(version)] });
      expect(await world.bootstrap()).toMatchObject({ exit: 0 });
      expect(calls()).toEqual(['AttemptUpdate', 'StartUnit']);
      expectUntouched(world);
    },
  );

  test('the same without leave to reboot is a failure', async () => {
    using world = await makeWorld(suite);
    await suite.bus.become({ status: needReboot('0.0.0') });
    const { exit, err } = await world.bootstrap('--upgrade-os=false');
    expect({ exit, err }).toMatchObject({ exit: 1, err: expect.stringContaining('NEXT_VERSION_UNKNOWN') as string });
    expect(calls()).toEqual([]);
    expectUntouched(world);
  });

  test('an engine that leaves in the middle ends the wait at once', async () => {
    using world = await makeWorld(suite);
    await suite.bus.become({ onAttempt: [{ operation: 'DOWNLOADING', version: '1576.4.0' }, 'vanish'] });
    const { exit, err } = await world.bootstrap('--update-deadline=60');
    expect({ exit, err }).toMatchObject({ exit: 1, err: expect.stringMatching(/left the bus/) as string });
    expectUntouched(world);
  });

  test('where nobody is update_engine, only a run that asks for updates fails', async () => {
    using world = await makeWorld(suite);
    publish(suite, '1520.5.0', one);
    await suite.bus.become({ engine: 'absent' });
    expect(await world.bootstrap()).toMatchObject({ exit: 1 });
    expectUntouched(world);
    const { exit, err } = await world.bootstrap('--upgrade-os=0');
    expect({ exit, err }).toMatchObject({
      exit: 0,
      err: expect.stringMatching(/nobody on the bus is update_engine/) as string,
    });
  });

  test('without leave to upgrade it is only asked, and a waiting update is prepared for', async () => {
    using world = await makeWorld(suite);
    await suite.bus.become({ status: needReboot('1576.4.0') });
    for (const os of ['1520.5.0', '1576.4.0']) publish(suite, os, one);
    expect(await world.bootstrap('--upgrade-os=false')).toMatchObject({ exit: 0 });
    expect(calls()).not.toContain('AttemptUpdate');
    expect(world.tree('/var/lib/torcx/store')).toHaveLength(2);
  });
});

describe('a bucket that serves what the publisher once signed', () => {
  const old = ['--faked-system-time', '20180601T000000!'];
  const offer = (version: string) => [{ version, image: version }];

  test('an older list of the same OS version is refused once a newer one was accepted', async () => {
    using world = await makeWorld(suite);
    const key = suite.gnupg.makeKey('steady', { at: '20180101T000000', life: 'never' });
    world.put('/pubring.gpg', suite.gnupg.exportArmored(key));
    const published = (docker: string, at: readonly string[]): void =>
      void publish(suite, '1520.5.0', offer(docker), { sign: (list) => suite.gnupg.sign(key, list, at) });
    published('1.12', old);
    expect(await world.bootstrap()).toMatchObject({ exit: 0 });
    published('17.03', []);
    expect(await world.bootstrap()).toMatchObject({ exit: 0 });
    const profile = world.read('/etc/torcx/profiles/tectonic.json');
    published('1.12', old);
    const { exit, err } = await world.bootstrap();
    expect({ exit, err }).toMatchObject({ exit: 1, err: expect.stringContaining('TORCX_REPLAY') as string });
    expect(err).toContain('it was signed at 2018-06-01T00:00:00.000Z, and this node has accepted one signed at');
    expect(world.read('/etc/torcx/profiles/tectonic.json')).toBe(profile);
  });

  test('the list of another OS version is refused, with its own good signature', async () => {
    using world = await makeWorld(suite);
    const from = publish(suite, '1520.5.0', offer('17.03'));
    expect(await world.bootstrap()).toMatchObject({ exit: 0 });
    const to = from.replace('1520.5.0', '1576.4.0');
    for (const end of ['', '.asc'])
      suite.bucket.replies.set(`${to}${end}`, suite.bucket.replies.get(`${from}${end}`) ?? []);
    await suite.bus.become({ status: needReboot('1576.4.0') });
    const { exit, err } = await world.bootstrap('--upgrade-os=false');
    expect({ exit, err }).toMatchObject({
      exit: 1,
      err: expect.stringMatching(/the list that this node has accepted for OS 1520\.5\.0 on amd64-usr/) as string,
    });
    expect(world.tree('/var/lib/torcx/store')).toEqual(['1520.5.0/docker:17.03.torcx.tgz']);
  });

  test('a list that names its board and OS version is good for nothing else, on the first day too', async () => {
    using world = await makeWorld(suite);
    for (const [subject, reason] of [
      [{ board: 'amd64-usr', osVersion: '1465.8.0' }, 'it is for OS 1465.8.0'],
      [{ board: 'arm64-usr', osVersion: '1520.5.0' }, 'it is for arm64-usr'],
    ] as const) {
      publish(suite, '1520.5.0', one, { subject });
      const { exit, err } = await world.bootstrap('--upgrade-os=false');
      expect({ exit, err }).toMatchObject({ exit: 1, err: expect.stringContaining(reason) as string });
      expectUntouched(world);
    }
    publish(suite, '1520.5.0', one, { subject: { board: 'amd64-usr', osVersion: '1520.5.0' } });
    expect(await world.bootstrap('--upgrade-os=false', '--require-bound-lists')).toMatchObject({ exit: 0 });
  });

  test('archives of another board give a list of the original form away', async () => {
    using world = await makeWorld(suite);
    const urls = [`${suite.bucket.url}/pkgs/arm64-usr/docker/abc/docker:17.03.torcx.tgz`];
    publish(suite, '1520.5.0', [{ version: '17.03', image: 'x', urls }]);
    const { exit, err } = await world.bootstrap('--upgrade-os=false');
    expect({ exit, err }).toMatchObject({ exit: 1, err: expect.stringContaining('it is for arm64-usr') as string });
  });

  test('--require-bound-lists refuses a list that does not say what it is for', async () => {
    using world = await makeWorld(suite);
    publish(suite, '1520.5.0', one);
    const { exit, err } = await world.bootstrap('--require-bound-lists');
    expect({ exit, err }).toMatchObject({ exit: 1, err: expect.stringContaining('does not say for which') as string });
    expectUntouched(world);
  });
});

describe('--torcx-skip-setup', () => {
  test('without an update only kubelet.env is written: no torcx, no bucket, no reboot, no bus', async () => {
    using world = await makeWorld(suite);
    const flags = [
      '--torcx-skip-setup',
      '--torcx-bin=/nonexistent/torcx',
      '--keyring=/nonexistent',
      '--upgrade-os=false',
    ];
    expect(await world.bootstrap(...flags)).toMatchObject({ exit: 0 });
    expect(suite.bucket.requests).toEqual([]);
    expect(suite.bus.calls).toEqual([]);
    expect(world.read('/etc/kubernetes/kubelet.env')).toContain('KUBELET_IMAGE_TAG=v1.8.4_coreos.0\n');
  });

  test('an OS update reboots, but docker keeps its data', async () => {
    using world = await makeWorld(suite);
    await suite.bus.become({ onAttempt: [needReboot('1576.4.0')] });
    expect(await world.bootstrap('--torcx-skip-setup=true')).toMatchObject({ exit: 0 });
    expect(calls()).toEqual(['AttemptUpdate', 'StartUnit']);
    expect(world.has('/etc/kubernetes/kubelet.env')).toBe(true);
  });
});

describe('systemd', () => {
  test('a refused reboot takes kubelet.env back, and the next run succeeds', async () => {
    using world = await makeWorld(suite);
    publish(suite, '1520.5.0', one);
    await suite.bus.become({ startUnit: 'refuse' });
    expect(await world.bootstrap()).toMatchObject({
      exit: 1,
      err: expect.stringContaining('REBOOT_REFUSED') as string,
    });
    expect(world.has('/etc/kubernetes/kubelet.env')).toBe(false);
    expect(world.has('/run/firstlight/torcx-reboot-owed')).toBe(false);
    await suite.bus.become({});
    expect(await world.bootstrap()).toMatchObject({ exit: 0 });
    expect(world.has('/etc/kubernetes/kubelet.env')).toBe(true);
  });

  test.each(['canceled', 'timeout', 'failed'])('a reboot job that ends as %s counts as refused', async (job) => {
    using world = await makeWorld(suite);
    publish(suite, '1520.5.0', one);
    await suite.bus.become({ job });
    expect(await world.bootstrap()).toMatchObject({ exit: 1 });
    expect(world.has('/etc/kubernetes/kubelet.env')).toBe(false);
  });

  test('an accepted reboot that never comes has its own exit code and takes kubelet.env back', async () => {
    using world = await makeWorld(suite);
    publish(suite, '1520.5.0', one);
    await suite.bus.become({ job: 'done' });
    const { exit } = await world.bootstrap('--reboot-deadline=0.03');
    expect(exit).toBe(7);
    expect(world.has('/etc/kubernetes/kubelet.env')).toBe(false);
  });

  test('where the cleanup unit cannot be enabled, neither kubelet.env nor the reboot follows', async () => {
    using world = await makeWorld(suite);
    publish(suite, '1520.5.0', one);
    await suite.bus.become({ enable: 'refuse' });
    expect(await world.bootstrap()).toMatchObject({ exit: 1 });
    expect(calls()).toEqual(['AttemptUpdate', 'EnableUnitFiles']);
    expect(world.has('/etc/kubernetes/kubelet.env')).toBe(false);
  });
});

describe('inputs', () => {
  test.each([
    ['/etc/kubernetes/installer/kubelet.env'],
    ['/pubring.gpg'],
    ['/etc/kubernetes/installer/runtime-mappings.yaml'],
    ['/usr/lib/os-release'],
  ])('without %s nothing is changed and nobody is asked for an update', async (path) => {
    using world = await makeWorld(suite);
    publish(suite, '1520.5.0', one);
    const { rmSync } = await import('node:fs');
    rmSync(`${world.root}${path}`);
    const { exit, err } = await world.bootstrap('--force-kube-version=v1.8.4');
    expect({ exit, err }).toMatchObject({ exit: 1, err: expect.stringContaining(path) as string });
    expect(suite.bus.calls).toEqual([]);
    expect(suite.bucket.requests).toEqual([]);
    expectUntouched(world);
  });

  test('two runs at once: the second is refused and the first is not disturbed', async () => {
    using world = await makeWorld(suite);
    publish(suite, '1520.5.0', one);
    await suite.bus.become({ onAttempt: [{ operation: 'IDLE', afterMs: 3_000 }] });
    const first = world.bootstrap();
    await new Promise((resolve) => setTimeout(resolve, 350));
    // From another process, as a pod or a unit would be.
    const main = new URL('../../src/main.ts', import.meta.url).pathname;
    const child = spawn(process.execPath, [main, 'torcx', 'bootstrap', ...world.args], {
      env: { ...process.env, ...world.variables },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let err = '';
    child.stderr.on('data', (chunk) => (err += String(chunk)));
    const [code] = (await once(child, 'exit')) as [number];
    expect({ code, err }).toMatchObject({ code: 1, err: expect.stringContaining('TORCX_LOCKED') as string });
    expect(await first).toMatchObject({ exit: 0 });
  });
});

describe('flags', () => {
  test.each([
    [['--verbose=loud'], /--verbose must be one of/],
    [['--kubeconfig='], /--kubeconfig must not be empty/],
    [['--torcx-profile='], /--torcx-profile must not be empty/],
    [['--keyring='], /--keyring must not be empty/],
    [['--upgrade-os=maybe'], /--upgrade-os must be one of 1 t T true/],
    [['--torcx-manifest-url=https://x/{{.Arch}}'], /\{\{\.Arch\}\} is not known/],
    [['--torcx-manifest-url=https://x/{{.Board'], /no matching/],
    [['--torcx-manifest-url=ftp://x/'], /http or https/],
  ])('%s is refused with exit 1', async (flags, message) => {
    using world = await makeWorld(suite);
    const { exit, err } = await world.bootstrap(...flags);
    expect({ exit, err }).toMatchObject({ exit: 1, err: expect.stringMatching(message) as string });
    expect(suite.bus.calls).toEqual([]);
  });

  test('a word too many is refused, also after a boolean flag', async () => {
    using world = await makeWorld(suite);
    for (const words of [['extra'], ['--upgrade-os', 'false']]) {
      const argv = torcxArguments('/usr/bin/tectonic-torcx-bootstrap', [...words, ...world.args]);
      const { exit, err } = await world.run(argv);
      expect({ exit, err }).toMatchObject({ exit: 2, err: expect.stringMatching(/too many arguments/) as string });
    }
  });

  test('--dry-run and explain say what is known and planned, and change nothing', async () => {
    using world = await makeWorld(suite);
    await suite.bus.become({ status: needReboot('1576.4.0') });
    for (const os of ['1520.5.0', '1576.4.0']) publish(suite, os, one);
    const before = world.tree('/');
    const { exit, out } = await world.bootstrap('--dry-run');
    expect(exit).toBe(0);
    const stable = out.replaceAll(world.root, '').replaceAll(suite.bucket.url, 'https://bucket');
    expect(stable).toMatchInlineSnapshot(`
      "known
        running OS        1520.5.0 (amd64-usr)  /usr/lib/os-release
        Kubernetes        v1.8.4+coreos.0       /etc/kubernetes/installer/kubelet.env
                          (/version: kubeconfig /etc/kubernetes/kubeconfig: no such file or folder)
        docker that fits  17.03, 1.12           /etc/kubernetes/installer/runtime-mappings.yaml
                          (ConfigMap tectonic-system/tectonic-torcx-runtime-mappings: kubeconfig /etc/kubernetes/kubeconfig: no such file or folder)
        next OS           1576.4.0              update_engine
        running docker    unknown               /run/torcx/profile.json
                          (/run/torcx/profile.json is not there)

      so
        OS 1576.4.0 offers docker 17.03, preference 1 of 2 (17.03, 1.12)
        the running OS 1520.5.0 offers 17.03 too, for a rollback

      a run would
        1. put docker 17.03 into the store of OS 1576.4.0, from https://bucket/images/docker:17.03.torcx.tgz
        2. put docker 17.03 into the store of OS 1520.5.0, from /var/lib/torcx/store/1576.4.0/docker:17.03.torcx.tgz
        3. note in /var/lib/torcx/accepted-lists.json which package lists were accepted, so that no older one is
        4. make profile tectonic with docker 17.03 at the next boot
        5. clear /var/lib/docker while the machine goes down: docker 17.03 follows an unknown version
        6. write /etc/kubernetes/kubelet.env, so that the kubelet starts
        7. reboot: OS 1576.4.0 is ready; docker 17.03 follows an unknown version
      "
    `);
    const asJson = JSON.parse((await world.bootstrap('--dry-run', '-o', 'json')).out) as {
      actions: { kind: string }[];
    };
    expect(asJson.actions.map(({ kind }) => kind)).toEqual([
      'install-image',
      'install-image',
      'remember-lists',
      'use-profile',
      'clear-docker-data',
      'write-kubelet-env',
      'reboot',
    ]);
    expect(world.tree('/')).toEqual(before);
    expect(calls()).toEqual([]);
  });

  test('a dry run that cannot decide says how far it got', async () => {
    using world = await makeWorld(suite);
    const { exit, out } = await world.bootstrap('--dry-run');
    expect(exit).toBe(1);
    expect(out).toMatch(/Kubernetes +v1\.8\.4\+coreos\.0/);
    expect(out).toMatch(/it stops here\n.*HTTP 404/);
  });
});
