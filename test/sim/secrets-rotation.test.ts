// The rotation of the key that encrypts Secrets, against masters in memory: killed anywhere, beside another one, with a
// master that is down or that joins. While it runs, users write Secrets and read all of them through every master.
import { describe, expect, test } from 'vitest';
import { encryptionStatus } from '../../src/secrets-encryption/encryption-status.ts';
import { type Rotation, rotateKey } from '../../src/secrets-encryption/rotate-key.ts';
import { EncryptionWorld, namesIn } from './encryption-world.ts';

interface Run {
  /** Kills the command after this time. */
  readonly killAfterMs?: number;
}

async function run(world: EncryptionWorld, { killAfterMs }: Run = {}): Promise<Rotation> {
  const killed = new AbortController();
  if (killAfterMs !== undefined) world.host.clock.after(killAfterMs, () => killed.abort(new Error('killed')));
  return rotateKey({
    client: await world.client(),
    host: world.host,
    signal: killed.signal,
    emit: () => {},
    onRotated: async (text) => {
      await world.host.files.makeFolder('/cluster');
      await world.host.files.write('/cluster/copy', text);
    },
  });
}

async function newWorld(seed: string): Promise<EncryptionWorld> {
  const world = new EncryptionWorld(seed);
  await world.start();
  void useSecrets(world);
  return world;
}

/** Ends with the world. */
async function useSecrets(world: EncryptionWorld): Promise<void> {
  for (let n = 0; !world.hasEnded; n += 1) {
    world.put(`written-${n % 10}`);
    world.remove(`written-${(n + 5) % 10}`);
    world.readAll();
    await world.host.clock.sleep(1_000);
  }
}

async function expectRotated(world: EncryptionWorld, { key }: Rotation): Promise<void> {
  world.readAll();
  expect(world.unreadable).toEqual([]);
  expect([...world.encryptedBy()]).toEqual([key]);
  for (const { agent, loaded } of world.masters) {
    expect(namesIn(loaded)).toEqual([key]);
    for (const folder of ['pki', 'kube-apiserver']) {
      const text = await agent.host.files.readText(`/etc/kubernetes/${folder}/secrets-encryption.json`);
      expect(namesIn(text)).toEqual([key]);
    }
  }
  expect(namesIn(await world.host.files.readText('/cluster/copy'))).toEqual([key]);
  world.end();
}

describe('a rotation', () => {
  test('leaves one new key, and every Secret is readable at every moment', async () => {
    const world = await newWorld('whole');
    const [before] = world.encryptedBy();
    const rotation = await run(world);
    expect(rotation.key).not.toBe(before);
    await expectRotated(world, rotation);
  });

  test.each(Array.from({ length: 12 }, (_, n) => n * 15_000 + 20))(
    'that was killed after %i ms is finished by the next run, with the key it had begun with',
    async (killAfterMs) => {
      const world = await newWorld(`killed-${killAfterMs}`);
      const first = await run(world, { killAfterMs }).catch((error: Error) => error.message);
      if (typeof first !== 'string') return expectRotated(world, first);
      expect(first).toBe('killed');
      const begun = world.masters.flatMap(({ loaded }) => namesIn(loaded));
      const rotation = await run(world);
      if (new Set(begun).size > 1) expect(begun).toContain(rotation.key);
      return expectRotated(world, rotation);
    },
  );

  test('shows in the status until its end', async () => {
    const world = await newWorld('status');
    const status = async () => {
      const { signal } = new AbortController();
      return encryptionStatus(await world.client(), { now: world.host.clock.now(), signal });
    };
    const [before] = world.encryptedBy();
    expect(await status()).toMatchObject({ keys: [{ name: before, ageDays: 0 }], isRotating: false, masters: [] });
    await run(world, { killAfterMs: 5_000 }).catch(() => {});
    expect(await status()).toMatchObject({ keys: [{ name: before }, {}], isRotating: true });
    expect((await status()).masters.map(({ name }) => name)).toEqual(['master-0', 'master-1', 'master-2']);
    const { key } = await run(world);
    expect(await status()).toMatchObject({ keys: [{ name: key }], isRotating: false });
    world.end();
  });

  test('beside another one is the same one', async () => {
    const world = await newWorld('two');
    const [first, second] = await Promise.all([run(world), run(world)]);
    expect(first.key).toBe(second.key);
    await expectRotated(world, first);
  });

  test.each([0, 30_000, 60_000, 90_000, 120_000, 150_000])(
    'takes in a master that joins after %i ms',
    async (joinsAfterMs) => {
      const world = await newWorld(`joins-${joinsAfterMs}`);
      const [rotation] = await Promise.all([
        run(world),
        world.host.clock.sleep(joinsAfterMs).then(() => world.join('master-3')),
      ]);
      // A master that joined at the very end has loaded the list when it began to serve.
      await world.host.clock.sleep(90_000);
      await expectRotated(world, rotation);
    },
  );

  test('stops, and says why, while a master is down; it goes on when the master is back', async () => {
    const world = await newWorld('down');
    const lost = world.masters[2];
    if (lost === undefined) throw new Error('no master');
    lost.isUp = false;
    await expect(run(world)).rejects.toMatchObject({
      code: 'SECRETS_ENCRYPTION_MASTERS_BEHIND',
      message: expect.stringContaining('master-2 to load the list of keys'),
    });
    expect(world.unreadable).toEqual([]);
    lost.isUp = true;
    await expectRotated(world, await run(world));
  });
});
