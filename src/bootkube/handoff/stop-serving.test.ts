import { dirname } from 'node:path';
import { expect, test } from 'vitest';
import { handoffMark } from '../../contract/bootstrap-paths.ts';
import { apiPort } from '../../contract/ports.ts';
import { fakeHost } from '../../host/fake/fake-host.ts';
import type { BootkubeContext } from '../context.ts';
import { stopServing } from './stop-serving.ts';

/** The machine of a run that was killed after it had removed the pods. */
async function killedRun(listening: readonly number[]) {
  const { network } = fakeHost();
  const host = fakeHost({
    network: {
      probe: async (address, port, timeoutMs) => {
        if (!listening.includes(port)) await network.probe(address, port, timeoutMs);
      },
    },
  });
  await host.files.makeFolder(dirname(handoffMark));
  await host.files.write(handoffMark, 'marked\n');
  return stopServing.observe({ host } as unknown as BootkubeContext, undefined);
}

test('a run killed while the API server ends waits for its end again', async () => {
  expect(await killedRun([apiPort])).toMatchObject({ status: 'needed' });
});

test('it is done once nothing listens any more', async () => {
  expect(await killedRun([])).toEqual({ status: 'done' });
});
