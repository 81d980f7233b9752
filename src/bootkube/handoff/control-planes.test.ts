import { describe, expect, test } from 'vitest';
import { missingText } from '../../contract/missing.ts';
import { fakeHost } from '../../host/fake/fake-host.ts';
import type { HttpRequest } from '../../host/network.ts';
import type { BootkubeContext } from '../context.ts';
import { controlPlanes } from './control-planes.ts';

const addressOf = (name: string): string => `10.0.0.1${name.at(-1)}`;

/** The stage while these masters answer on both ports; it is stopped when it says that it waits. */
async function lookAt(masters: readonly string[], serving: readonly string[]) {
  const request = async ({ url, connectTo }: HttpRequest) => {
    const isServing = serving.some((name) => [connectTo?.host, new URL(url).hostname].includes(addressOf(name)));
    return { status: isServing ? 200 : 500, headers: {}, body: new Uint8Array() };
  };
  const connections = { ...fakeHost().network.keepConnections(), request, [Symbol.dispose]: () => undefined };
  const host = fakeHost({ network: { request, keepConnections: () => connections } });
  await host.files.makeFolder('/etc/kubernetes/pki');
  await host.files.write('/etc/kubernetes/pki/apiserver-ca.crt', 'a certificate');
  await host.files.makeFolder('/assets/tls');
  await host.files.write('/assets/tls/root-ca.crt', 'a certificate');
  const context = {
    host,
    folders: { assets: '/assets' },
    names: { configServerUrl: 'https://api-int.test:22623' },
    inventory: { machines: masters.map((name) => ({ name, role: 'master', addresses: [addressOf(name)] })) },
  } as unknown as BootkubeContext;
  const stop = new AbortController();
  const waits: string[] = [];
  const run = controlPlanes.run(
    context,
    {
      signal: stop.signal,
      report: (progress) => {
        waits.push(...('missing' in progress ? progress.missing.map(missingText) : []));
        stop.abort(new Error('it waits'));
      },
    },
    undefined,
  );
  return { note: await run.then(({ note }) => note).catch((error: Error) => error.message), waits };
}

const three = ['master-0', 'master-1', 'master-2'];

describe('before the bootstrap machine stops serving', () => {
  test('two of three masters that serve the API and the config server are enough', async () => {
    expect((await lookAt(three, ['master-0', 'master-2'])).note).toBe('master-0, master-2 serve');
  });

  test('one of three is not: the others are named with what they answer', async () => {
    const { note, waits } = await lookAt(three, ['master-1']);
    expect(note).toBe('it waits');
    expect(waits).toEqual(
      ['master-0', 'master-2'].flatMap((name) => [
        expect.stringMatching(`^${name}: .* 500`),
        expect.stringMatching(`^${name}: `),
      ]),
    );
  });

  test('the only master is enough where there is one', async () => {
    expect((await lookAt(['master-0'], ['master-0'])).note).toBe('master-0 serve');
  });
});
