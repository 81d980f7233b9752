import { describe, expect, test } from 'vitest';
import { fakeMachine } from '../config-daemon/fake-machine.ts';
import { attemptFiles, attemptSettingsSchema, inPlaceUnits, programLauncher } from '../contract/in-place.ts';
import { firstlightFolder, unitFolder } from '../contract/machine-paths.ts';
import { Crash } from '../host/fake/fake-files.ts';
import type { FakeHost } from '../host/fake/fake-host.ts';
import { sampleSettings } from './preflight/sample-attempt.ts';
import { stageAttempt } from './stage-attempt.ts';

const root = '/proc/7/root';
const { attemptId } = sampleSettings;
const files = attemptFiles(attemptId);

async function hostWithPod(): Promise<FakeHost> {
  const machine = await fakeMachine();
  const flushed = { code: 0, signal: undefined, stdout: '', stderr: '', timedOut: false };
  const processes = {
    ...machine.processes,
    run: async (...words: Parameters<typeof machine.processes.run>) =>
      words[0] === 'sync' ? flushed : machine.processes.run(...words),
  };
  const host = { ...machine, processes };
  const program = {
    [`${root}${firstlightFolder}/bin/node`]: 'node',
    [`${root}${firstlightFolder}/dist/firstlight.mjs`]: 'program',
    [`${root}${firstlightFolder}/dist/chunks/a.mjs`]: 'chunk',
  };
  for (const [path, text] of Object.entries(program)) {
    await host.files.makeFolder(path.slice(0, path.lastIndexOf('/')));
    await host.files.write(path, text);
  }
  return host;
}

const staged = ({ disk }: FakeHost) =>
  [...disk.nodes].filter(([path]) => path.startsWith('/var/lib/ipb') || path.startsWith(unitFolder));

describe('an attempt is put on the host', () => {
  test('with its program, its settings for root alone, and its units, of which one is enabled', async () => {
    const host = await hostWithPod();
    await stageAttempt(host, sampleSettings, root);
    expect(await host.files.readText(`${files.program}/dist/chunks/a.mjs`)).toBe('chunk');
    expect((await host.files.facts(`${files.program}/${programLauncher}`))?.mode).toBe(0o755);
    expect((await host.files.facts(files.settings))?.mode).toBe(0o600);
    const settings = attemptSettingsSchema.parse(JSON.parse(await host.files.readText(files.settings)));
    expect(Object.keys(settings.programDigests)).toContain('bin/node');
    const enabled = `${unitFolder}/multi-user.target.wants`;
    expect(await host.files.list(enabled)).toEqual([inPlaceUnits.run(attemptId)]);
    expect(await host.files.facts(`${unitFolder}/${inPlaceUnits.finish(attemptId)}`)).toBeDefined();
  });

  test('and ends in the same state wherever it was killed', async () => {
    const whole = await hostWithPod();
    const before = whole.disk.changes;
    await stageAttempt(whole, sampleSettings, root);
    const last = whole.disk.changes;
    for (let crashAt = before + 1; crashAt <= last; crashAt += 1) {
      const host = await hostWithPod();
      host.disk.crashAt = crashAt;
      await expect(stageAttempt(host, sampleSettings, root)).rejects.toThrow(Crash);
      delete host.disk.crashAt;
      await stageAttempt(host, sampleSettings, root);
      expect(staged(host), `killed at change ${crashAt}`).toEqual(expect.arrayContaining(staged(whole)));
      expect(staged(host)).toHaveLength(staged(whole).length);
    }
  });
});
