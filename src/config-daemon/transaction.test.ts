import { describe, expect, test } from 'vitest';
import { daemonFiles } from '../contract/machine-config-node.ts';
import { unitFolder } from '../contract/machine-paths.ts';
import { hostErrors } from '../host/errors.ts';
import type { FakeHost } from '../host/fake/fake-host.ts';
import type { Host } from '../host/host.ts';
import type { IgnitionConfig } from '../ignition/config.ts';
import { inlineFile } from '../ignition/inline-contents.ts';
import { configSpec } from '../machine-config/machine-config.ts';
import { readOwnConfig } from './adopt-served-config.ts';
import type { AppliedConfig } from './applied-config.ts';
import { planChange } from './change-plan.ts';
import { fakeMachine, picture, restarted } from './fake-machine.ts';
import { findDrift } from './find-drift.ts';
import { applyChange, finishChange, forgetChange, recoverChange, undoChange } from './transaction.ts';

const ignition = { version: '3.5.0' } as const;
const named = (name: string, config: Omit<IgnitionConfig, 'ignition'> = {}): AppliedConfig => {
  return { name, spec: configSpec({ ignition, ...config }) };
};
const empty = named('empty');

const unit = (text: string, target = 'multi-user.target'): string =>
  `[Service]\nExecStart=${text}\n[Install]\nWantedBy=${target}\n`;

const older = named('rendered-worker-1', {
  storage: {
    directories: [{ path: '/etc/old-folder', mode: 0o700 }],
    files: [
      inlineFile({ path: '/etc/motd', content: 'first\n', mode: 0o644 }),
      inlineFile({ path: '/etc/old-folder/deep/gone', content: 'goes\n', mode: 0o600 }),
      inlineFile({ path: '/etc/stays', content: 'stays\n', mode: 0o644 }),
    ],
    links: [{ path: '/etc/pointer', target: '/etc/motd' }],
  },
  systemd: {
    units: [
      { name: 'a.service', enabled: true, contents: unit('a') },
      { name: 'gone.service', enabled: true, contents: unit('gone'), dropins: [{ name: '10-x.conf', contents: '#' }] },
      { name: 'ssh.service', enabled: false },
    ],
  },
});

const newer = named('rendered-worker-2', {
  passwd: { users: [{ name: 'core', sshAuthorizedKeys: ['ssh-ed25519 AAAA'], passwordHash: '$6$x' }] },
  storage: {
    files: [
      inlineFile({ path: '/etc/motd', content: 'second\n', mode: 0o600, gzip: true }),
      inlineFile({ path: '/etc/stays', content: 'stays\n', mode: 0o644 }),
      inlineFile({ path: '/etc/os-file', content: 'ours\n', mode: 0o644, user: 'nobody', group: 'nogroup' }),
      inlineFile({ path: '/etc/new/folder/file', content: 'new\n', mode: 0o644 }),
    ],
    links: [{ path: '/etc/pointer', target: '/etc/os-file' }],
  },
  systemd: {
    units: [
      { name: 'a.service', enabled: true, contents: unit('a', 'other.target') },
      { name: 'b.service', enabled: true, contents: unit('b') },
      { name: 'noise.service', mask: true },
    ],
  },
});

async function machineWith(config: AppliedConfig): Promise<FakeHost> {
  const host = await fakeMachine();
  await host.files.write('/etc/os-file', 'of the system\n', { mode: 0o640, uid: 0, gid: 65_534 });
  for (const name of ['ssh.service', 'noise.service']) {
    await host.files.write(`/usr/lib/systemd/system/${name}`, unit(name));
  }
  await host.processes.run('systemctl', ['enable', 'ssh.service']);
  await change(host, undefined, config);
  return host;
}

async function apply(host: Host, from: AppliedConfig | undefined, to: AppliedConfig): Promise<void> {
  await applyChange(host, { from, to, plan: planChange((from ?? empty).spec, to.spec) });
}

async function change(host: Host, from: AppliedConfig | undefined, to: AppliedConfig): Promise<void> {
  await apply(host, from, to);
  await finishChange(host);
}

test('after a change the machine has the new config and shows no drift', async () => {
  const host = await machineWith(older);
  expect(await findDrift(host, older.spec)).toEqual([]);
  await change(host, older, newer);
  expect(await findDrift(host, newer.spec)).toEqual([]);
  expect((await readOwnConfig(host))?.name).toBe('rendered-worker-2');
  expect(await host.files.readLink(`${unitFolder}/noise.service`)).toBe('/dev/null');
  expect(await host.files.readLink(`${unitFolder}/other.target.wants/a.service`)).toBe(`${unitFolder}/a.service`);
  // The unit of the system is as enabled as it was before a config named it.
  expect((await host.processes.run('systemctl', ['is-enabled', 'ssh.service'])).stdout).toBe('enabled\n');
  expect(await host.files.readText('/etc/shadow')).toContain('core:$6$x:');
  const gone = ['/etc/old-folder', `${unitFolder}/gone.service.d`, `${unitFolder}/multi-user.target.wants/a.service`];
  for (const path of gone) expect(await host.files.facts(path), path).toBeUndefined();
});

test('a config that goes leaves no trace: originals come back, everything else is gone', async () => {
  const host = await machineWith(empty);
  const before = picture(host);
  await change(host, empty, older);
  await change(host, older, empty);
  expect(picture(host)).toEqual(before);
});

test('an original is the file of the system, also when the config changes twice', async () => {
  const host = await machineWith(empty);
  const file = (content: string) =>
    named(content, { storage: { files: [inlineFile({ path: '/etc/os-file', content, mode: 0o600 })] } });
  await change(host, empty, file('one'));
  await change(host, file('one'), file('two'));
  expect(await host.files.readText(`${daemonFiles.originals}/etc/os-file.mcdorig`)).toBe('of the system\n');
  await change(host, file('two'), empty);
  expect(await host.files.facts('/etc/os-file')).toMatchObject({ mode: 0o640, uid: 0, gid: 65_534 });
  expect(await host.files.readText('/etc/os-file')).toBe('of the system\n');
  expect(await host.files.list(daemonFiles.originals)).toBeUndefined();
});

test('an undone change is the old config, byte for byte and mode for mode', async () => {
  const host = await machineWith(older);
  const before = picture(host);
  await apply(host, older, newer);
  expect((await undoChange(host)).phase).toBe('undone');
  await forgetChange(host);
  expect(picture(host)).toEqual(before);
});

describe('a full disk', () => {
  for (const failing of [1, 2, 3, 7, 10, 15, 20]) {
    test(`at write ${failing} leaves the old state, and the error has the path and the reason`, async () => {
      const host = await machineWith(older);
      const before = picture(host);
      let writes = 0;
      const full: Host = {
        ...host,
        files: {
          ...host.files,
          write: async (path, content, options) => {
            writes += 1;
            if (writes < failing) return host.files.write(path, content, options);
            throw hostErrors.FILE({ path, action: 'write', reason: 'no space left on the disk' });
          },
        },
      };
      // Users are removed by a program that writes as well; a full disk keeps the user in that case.
      const { passwd: _passwd, ...config } = newer.spec.config;
      const to = { name: newer.name, spec: configSpec(config) };
      const outcome = await apply(full, older, to).then(
        () => 'applied',
        (error: unknown) => String(error),
      );
      if (outcome === 'applied') return;
      expect(outcome).toMatch(/nothing was changed for rendered-worker-2: .*\/.*no space left on the disk/);
      expect(picture(host)).toEqual(before);
    });
  }
});

test('a unit that systemd refuses to enable undoes the change', async () => {
  const host = await machineWith(older);
  const before = picture(host);
  const refusing: Host = {
    ...host,
    processes: {
      ...host.processes,
      run: async (program, args, options) =>
        args.includes('enable') && args.includes('b.service')
          ? { code: 1, stdout: '', stderr: 'bad unit', signal: undefined, timedOut: false }
          : host.processes.run(program, args, options),
    },
  };
  await expect(apply(refusing, older, newer)).rejects.toThrow(/could not be applied and was undone: .*bad unit/);
  expect(picture(host)).toEqual(before);
});

test('a folder in the way of a file is never removed', async () => {
  const host = await machineWith(empty);
  await host.files.makeFolder('/etc/motd');
  await expect(apply(host, empty, older)).rejects.toThrow('/etc/motd is a folder on this machine');
});

interface Pictures {
  readonly before: ReturnType<typeof picture>;
  readonly after: ReturnType<typeof picture>;
}

/** What recovery leaves to decide is decided both ways: the result is the old config or the new one, never a mixture. */
async function expectWhole(host: FakeHost, { before, after }: Pictures): Promise<void> {
  const found = await recoverChange(host);
  if (found === undefined) {
    const isNew = (await readOwnConfig(host))?.name === newer.name;
    expect(picture(host)).toEqual(isNew ? after : before);
    return;
  }
  const twin = await restarted(host);
  if (found.phase === 'applied') {
    await finishChange(host);
    expect(picture(host)).toEqual(after);
    await undoChange(twin);
  }
  await forgetChange(twin);
  expect(picture(twin)).toEqual(before);
}

describe('killed at any change of the disk', async () => {
  const machine = await machineWith(older);

  const whole = async (): Promise<Pictures & { readonly changes: number }> => {
    const host = await restarted(machine);
    const before = picture(host);
    const start = host.disk.changes;
    await change(host, older, newer);
    return { before, after: picture(host), changes: host.disk.changes - start };
  };

  async function killedAt(crash: number): Promise<FakeHost> {
    const host = await restarted(machine);
    host.disk.crashAt = crash;
    await change(host, older, newer).catch(() => undefined);
    return restarted(host);
  }

  test('the change is finished or undone', async () => {
    const { changes, ...pictures } = await whole();
    for (let crash = 1; crash <= changes; crash += 1) await expectWhole(await killedAt(crash), pictures);
    expect(changes).toBeGreaterThan(60);
  });

  test('also when the recovery is killed', async () => {
    const { changes, ...pictures } = await whole();
    for (let crash = 1; crash <= changes; crash += 7) {
      const host = await killedAt(crash);
      for (let second = 1; ; second += 3) {
        const again = await restarted(host);
        again.disk.crashAt = second;
        const isOver = await recoverChange(again).then(
          () => true,
          () => false,
        );
        await expectWhole(await restarted(again), pictures);
        if (isOver) break;
      }
    }
  });

  test('also while it is undone', async () => {
    const { before } = await whole();
    for (let crash = 1; ; crash += 1) {
      const host = await restarted(machine);
      await apply(host, older, newer);
      host.disk.crashAt = host.disk.changes + crash;
      const isOver = await undoChange(host).then(
        () => true,
        () => false,
      );
      const again = await restarted(host);
      const found = await recoverChange(again);
      if (found?.phase === 'applied') await undoChange(again);
      await forgetChange(again);
      expect(picture(again)).toEqual(before);
      if (isOver) break;
    }
  });
});
