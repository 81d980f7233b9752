// The verbs about stages as a person types them on a bootstrap machine.
import { beforeEach, describe, expect, test } from 'vitest';
import { bootedMachine } from '../../../test/booted-machine.ts';
import { machineFolders } from '../../bootkube/context.ts';
import { bootkubeState } from '../../contract/bootstrap-paths.ts';
import { namedStages } from '../../contract/bootstrap-stages.ts';
import type { FakeHost } from '../../host/fake/fake-host.ts';
import { runCli } from '../frame/run.ts';

let host: FakeHost;

interface Typed {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

async function type(line: string, ...answers: readonly string[]): Promise<Typed> {
  const said = { out: '', err: '' };
  const left = [...answers];
  const { signal } = new AbortController();
  // A person types one line after the other.
  await host.clock.sleep(1_000, signal);
  const code = await runCli({
    argv: line.split(' '),
    loadHost: async () => host,
    interrupt: signal,
    terminal: {
      out: (text) => void (said.out += text),
      outContent: (content) => void (said.out += content),
      err: (text) => void (said.err += text),
      draw: () => {},
      ask: async () => left.shift(),
      outIsTerminal: false,
      errIsTerminal: false,
      inIsTerminal: answers.length > 0,
      hasColors: false,
      columns: () => 80,
      rows: () => 24,
      canDraw: false,
    },
  });
  return { code, ...said };
}

const pod = `${machineFolders.render}/07-etcd/etcd-pod.yaml`;

beforeEach(async () => {
  host = await bootedMachine();
});

describe('stages by hand', () => {
  test('render-all explains, runs and verifies all twelve that render', async () => {
    const { code, out, err } = await type('bootkube render-all');
    expect([code, out]).toEqual([0, '12 stages rendered and verified\n']);
    expect(err.match(/^Stage \d+: /gm)).toHaveLength(12);
    expect(err.match(/^stage \d+ \S+: done and verified/gm)).toHaveLength(12);
    expect(err).not.toContain('PRIVATE KEY');
  });

  test('every name of the document runs its stage: what it is for, the original, what was validated', async () => {
    await type('bootkube render-all');
    for (const [name, number] of Object.entries(namedStages).filter(([, each]) => each <= 12)) {
      const folder = `${machineFolders.render}/${String(number).padStart(2, '0')}`;
      for (const path of host.disk.nodes.keys()) if (path.startsWith(folder)) await host.files.remove(path);
      const { code, out, err } = await type(`bootkube ${name}`);
      expect(code, err).toBe(0);
      expect(err, name).toMatch(
        new RegExp(`^Stage ${number}: \\S+\n {2}why {7}\\S[^]*\n {2}original {2}podman run `, 'm'),
      );
      expect(err, name).toMatch(/^ {2}here {6}firstlight bootkube stage \d+/m);
      expect(out, name).toMatch(new RegExp(`^stage ${number} \\S+: done and verified[^]*^  ✓ \\S`, 'm'));
    }
  });

  test('a stage that has nothing to do says so, and one whose file was changed shows the difference', async () => {
    await type('bootkube render-all');
    expect((await type('bootkube stage 7')).out).toMatch(/^stage 7 etcd: unchanged since /);
    await host.files.write(pod, `${await host.files.readText(pod)}# by hand\n`);
    expect((await type('bootkube stage 7')).out).toContain('\n-# by hand\n');
  });

  test('--step asks first, and runs nothing without a yes', async () => {
    expect(await type('bootkube stage 1 --step', 'n')).toMatchObject({ code: 0, out: 'not run\n' });
    expect(await type('bootkube stage 1 --step')).toMatchObject({ code: 0, out: 'not run\n' });
    expect(await host.files.list(machineFolders.render)).toBeUndefined();
    expect((await type('bootkube stage 1 --step', '')).out).toMatch(/^stage 1 manifests: done and verified/);
  });
});

describe('looking at stages', () => {
  test.each(['bootkube stages', 'bootkube stages --show', 'bootkube stage 7 --show', 'bootkube render-etcd --show'])(
    '%s changes nothing and waits for nobody',
    async (line) => {
      await type('bootkube render-all');
      const before = host.disk.changes;
      // Somebody else writes.
      expect(await host.files.lock(bootkubeState, 'another')).not.toHaveProperty('heldBy');
      const { code, out, err } = await type(line);
      expect([code, err]).toEqual([0, '']);
      expect(out).toContain('etcd');
      expect(out).not.toContain('PRIVATE KEY');
      expect(host.disk.changes).toBe(before);
    },
  );
});
