// First boot against a scripted Ignition and systemctl: what it runs, in which order, and what it leaves behind.
// The real ones are in test/e2e/machines.test.ts.
import { describe, expect, test } from 'vitest';
import { firstBootStatusPath } from '../contract/first-boot-status.ts';
import { daemonFiles } from '../contract/machine-config-node.ts';
import { type FakeHost, fakeHost } from '../host/fake/fake-host.ts';
import type { RunResult } from '../host/processes.ts';
import { firstBootConfigPath } from '../machine-software/first-boot-unit.ts';
import { presetUnits, runFirstBoot } from './first-boot.ts';

const fine: RunResult = { code: 0, signal: undefined, stdout: '', stderr: '', timedOut: false };
const options = { signal: new AbortController().signal, log: () => {} };

interface Scripted {
  readonly host: FakeHost;
  readonly calls: string[];
}

async function machine(answers: Readonly<Record<string, Partial<RunResult>>> = {}): Promise<Scripted> {
  const calls: string[] = [];
  const host = fakeHost({
    processes: {
      run: async (program, args, runOptions) => {
        runOptions?.onLine?.('INFO     : Stage', 'stdout');
        runOptions?.onLine?.('{ "contents": "topsecret" }', 'stderr');
        const stage = args[args.indexOf('--stage') + 1];
        const call = program === 'ignition' ? `ignition ${stage}` : `${program} ${args.join(' ')}`;
        calls.push(call);
        return { ...fine, ...answers[call] };
      },
    },
  });
  for (const folder of ['/etc/firstlight', '/etc/systemd/system-preset']) await host.files.makeFolder(folder);
  await host.files.write(firstBootConfigPath, '{}', { mode: 0o600 });
  await host.files.write('/etc/systemd/system-preset/20-ignition.preset', 'enable a.service\ndisable b.service\n');
  return { host, calls };
}

async function status(host: FakeHost): Promise<unknown> {
  return JSON.parse(await host.files.readText(firstBootStatusPath));
}

describe('first boot', () => {
  test('runs both stages, applies the presets Ignition wrote, and only then lets the machine go on', async () => {
    const { host, calls } = await machine();
    await runFirstBoot(host, options);
    expect(calls).toEqual([
      'ignition fetch',
      'ignition files',
      'systemctl --no-reload preset a.service b.service',
      'systemctl daemon-reload',
      'systemctl --no-block isolate default.target',
    ]);
    expect(await status(host)).toMatchObject({ phase: 'done' });
  });

  test('keeps the originals of what Ignition is about to replace', async () => {
    const { host } = await machine();
    await host.files.makeFolder('/run');
    await host.files.write('/etc/motd', 'of the system', { mode: 0o640 });
    const files = ['/etc/motd', '/etc/new/file'].map((path) => ({ path, contents: { source: 'data:,x' } }));
    const served = JSON.stringify({ spec: { config: { storage: { files } } } });
    const contents = { source: `data:,${encodeURIComponent(served)}` };
    const fetched = { storage: { files: [{ path: daemonFiles.servedMachineConfig, contents }] } };
    await host.files.write('/run/ignition.json', JSON.stringify(fetched));
    await runFirstBoot(host, options);
    expect(await host.files.facts(`${daemonFiles.originals}/etc/motd.mcdorig`)).toMatchObject({ mode: 0o640 });
    // The folder that Ignition makes for the file was not there either.
    for (const path of ['/etc/new', '/etc/new/file']) {
      expect(await host.files.facts(`${daemonFiles.noOriginals}${path}.mcdnoorig`), path).toBeDefined();
    }
  });

  test('deletes the config, which may hold secrets, once it says that it is done', async () => {
    const { host } = await machine();
    await host.files.makeFolder('/run');
    await host.files.write('/run/ignition.json', '{}');
    await runFirstBoot(host, options);
    expect(await host.files.facts(firstBootConfigPath)).toBeUndefined();
    expect(await host.files.facts('/run/ignition.json')).toBeUndefined();
  });

  test('that was cut off between saying so and deleting it only deletes it', async () => {
    const { host, calls } = await machine();
    await runFirstBoot(host, options);
    await host.files.write(firstBootConfigPath, '{}');
    calls.length = 0;
    expect(await runFirstBoot(host, options)).toMatchObject({ phase: 'done' });
    expect(calls).toEqual([]);
    expect(await host.files.facts(firstBootConfigPath)).toBeUndefined();
  });

  test('that fails says why, keeps the config for the next try and starts nothing', async () => {
    const { host, calls } = await machine({ 'ignition files': { code: 1, stdout: 'CRITICAL : no such user "x"\n' } });
    await expect(runFirstBoot(host, options)).rejects.toMatchObject({ code: 'FIRSTBOOT_IGNITION' });
    expect(calls).toEqual(['ignition fetch', 'ignition files']);
    expect(await status(host)).toMatchObject({
      phase: 'failed',
      reason: expect.stringContaining('no such user "x"') as string,
    });
    expect(await host.files.facts(firstBootConfigPath)).toBeDefined();
  });

  test('logs what Ignition says, but never the config that a failing one prints on stderr', async () => {
    const { host } = await machine();
    const lines: string[] = [];
    await runFirstBoot(host, { ...options, log: (line) => lines.push(line) });
    expect(lines).toContain('INFO     : Stage');
    expect(lines.join('\n')).not.toContain('topsecret');
  });

  test('that systemd refuses is a failure too', async () => {
    const { host } = await machine({ 'systemctl daemon-reload': { code: 1, stderr: 'no' } });
    await expect(runFirstBoot(host, options)).rejects.toMatchObject({ code: 'FIRSTBOOT_SYSTEMCTL' });
  });
});

test('a preset file names its units, with the instances of templates written out', () => {
  const preset =
    'enable a.service\ndisable b.socket\n# note\n\nenable echo@.service bar foo\nenable t@.service \nenable a.service\n';
  expect(presetUnits(preset)).toEqual(['a.service', 'b.socket', 'echo@bar.service', 'echo@foo.service', 't@.service']);
  expect(presetUnits('')).toEqual([]);
});
