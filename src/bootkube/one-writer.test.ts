import { describe, expect, test } from 'vitest';
import { bootkubeState, removalMark } from '../contract/bootstrap-paths.ts';
import { type FakeHost, fakeHost } from '../host/fake/fake-host.ts';
import type { LockHolder } from '../host/files.ts';
import type { Host } from '../host/host.ts';
import { claimWriter } from './one-writer.ts';

const { signal } = new AbortController();

/** As the kernel and the other process would answer. */
function heldBy(fake: FakeHost, holder: LockHolder): Host {
  const lock: Host['files']['lock'] = async (folder, purpose) => {
    const taken = await fake.files.lock(folder, purpose);
    return 'heldBy' in taken ? { heldBy: holder } : taken;
  };
  return { ...fake, files: { ...fake.files, lock } };
}

function claim(host: Host, told: string[] = []): ReturnType<typeof claimWriter> {
  const purpose = 'firstlight bootkube stage 7, stage 7 etcd';
  return claimWriter({ host, purpose, patienceMs: 10_000, signal, onWaiting: (text) => told.push(text) });
}

describe('one process at a time writes', () => {
  test('who waits too long is told which process writes, and what it does', async () => {
    const fake = fakeHost();
    await using _ = await claim(fake);
    const told: string[] = [];
    const host = heldBy(fake, { pid: 812, purpose: 'bootkube.service, stage masters' });
    await expect(claim(host, told)).rejects.toMatchObject({
      code: 'BOOTKUBE_BUSY',
      message:
        'process 812 (bootkube.service, stage masters) runs a stage of this bootstrap, and still does after 10 s',
    });
    expect(told).toEqual(['waits for process 812 (bootkube.service, stage masters)']);
  });

  test('who waits has its turn when the other process has ended', async () => {
    const host = fakeHost();
    const first = await claim(host);
    const second = claim(host);
    host.clock.after(5_000, () => void first[Symbol.asyncDispose]());
    await using lock = await second;
    expect(lock.path).toBe(bootkubeState);
  });

  test('nobody writes after the removal of secrets has begun', async () => {
    const host = fakeHost();
    await host.files.makeFolder(bootkubeState);
    await host.files.write(removalMark, '');
    await expect(claim(host)).rejects.toMatchObject({ code: 'BOOTKUBE_OVER' });
    await expect(claim(host)).rejects.toMatchObject({ code: 'BOOTKUBE_OVER' });
  });
});
