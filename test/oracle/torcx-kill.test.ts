// kill -9 at every write and at every word to systemd: what is left is never half of anything that counts, and the next
// run ends exactly where an undisturbed one does.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeWorld, openSuite, publish, type Suite, type World } from './torcx/node-world.ts';

let suite: Suite;
/** The same program starts some thirty times. */
const cache = mkdtempSync('/tmp/flcache-');
beforeAll(async () => {
  suite = await openSuite();
});
afterAll(async () => {
  rmSync(cache, { recursive: true });
  await suite[Symbol.asyncDispose]();
});

const kubeletEnv = '/etc/kubernetes/kubelet.env';
const owed = '/run/firstlight/torcx-reboot-owed';
const program = fileURLToPath(new URL('torcx/killed-program.ts', import.meta.url));

/** Runs the program as its own process; SIGTERM follows the reboot's acceptance, as from systemd. */
async function runKilled(world: World, killAt: number): Promise<{ signal: string | null; out: string }> {
  const child = spawn(process.execPath, [program, 'torcx', 'bootstrap', '--reboot-deadline=5', ...world.args], {
    env: { ...process.env, ...world.variables, KILL_AT: String(killAt), NODE_COMPILE_CACHE: cache },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  suite.bus.onCall = ({ call }) => {
    if (call === 'StartUnit') setTimeout(() => child.kill('SIGTERM'), 20);
  };
  let out = '';
  child.stdout.on('data', (chunk) => (out += String(chunk)));
  const [, signal] = (await once(child, 'close')) as [number | null, string | null];
  return { signal, out };
}

async function freshWorld(): Promise<World> {
  const world = await makeWorld(suite);
  publish(suite, '1520.5.0', [{ version: '17.03', image: 'x'.repeat(10_000) }]);
  return world;
}

function snapshot(world: World): Readonly<Record<string, string>> {
  // The dates of the lists differ: each world has its own publisher.
  const kept = world.tree('/').filter((path) => !/torcx\.lock$|accepted-lists\.json$/.test(path));
  return Object.fromEntries(kept.map((path) => [path, world.read(path)]));
}

test('killed at every point, the rerun ends right and kubelet.env is absent or whole', async () => {
  using undisturbed = await freshWorld();
  const { out } = await runKilled(undisturbed, 0);
  const points = Number(/points (\d+)/.exec(out)?.[1]);
  expect(points).toBeGreaterThan(20);
  const right = snapshot(undisturbed);
  let whole = 0;
  for (let killAt = 1; killAt <= points; killAt += 1) {
    using world = await freshWorld();
    expect(await runKilled(world, killAt)).toMatchObject({ signal: 'SIGKILL' });
    if (world.has(kubeletEnv)) {
      whole += 1;
      expect(world.read(kubeletEnv)).toBe(right[kubeletEnv.slice(1)]);
      expect(world.has(owed)).toBe(true);
    }
    await suite.bus.become({});
    expect(await world.bootstrap(), `rerun after a kill at point ${killAt}`).toMatchObject({ exit: 0 });
    expect(snapshot(world), `rerun after a kill at point ${killAt}`).toEqual(right);
    expect(suite.bus.calls.at(-1)).toMatchObject({ call: 'StartUnit' });
  }
  expect(whole).toBeGreaterThan(0);
});
