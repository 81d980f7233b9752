import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, test } from 'vitest';
import { realHost } from '../host/real/real-host.ts';
import { connectKubernetes } from './client.ts';

const host = realHost();
const reference = { apiVersion: 'v1', kind: 'ConfigMap', name: 'a', namespace: 'b' };

async function serve(answer: (path: string, response: ServerResponse) => void) {
  const server = createServer((request, response) => answer(request.url ?? '', response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const config = {
    clusters: [{ name: 'c', cluster: { server: `http://127.0.0.1:${port}/`, 'insecure-skip-tls-verify': true } }],
    users: [{ name: 'u', user: { token: 'x' } }],
    contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'c',
  };
  const client = await connectKubernetes(host, { text: JSON.stringify(config) });
  return {
    client,
    [Symbol.asyncDispose]: async () => {
      await client[Symbol.asyncDispose]();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
const kinds = JSON.stringify({ resources: [{ name: 'configmaps', kind: 'ConfigMap', namespaced: true }] });

describe('a server that does not keep its part', () => {
  test('silence ends at the deadline, and says what was asked of whom', async () => {
    await using served = await serve(() => undefined);
    await expect(served.client.get(reference, { deadlineMs: 100 })).rejects.toMatchObject({
      code: 'KUBERNETES_TIMEOUT',
      message: expect.stringMatching(/^cannot read ConfigMap b\/a: http:.* did not answer within 0.1 s$/),
    });
  });

  test('an answer that stops in its middle ends at the deadline, too', async () => {
    await using served = await serve((_, response) => {
      response.writeHead(200).write('{"resources":');
    });
    await expect(served.client.get(reference, { deadlineMs: 100 })).rejects.toMatchObject({
      code: 'KUBERNETES_TIMEOUT',
    });
  });

  test('a kind that appears later is found later', async () => {
    let known = '{"resources":[]}';
    await using served = await serve((path, response) =>
      response.end(path === '/api/v1' ? known : JSON.stringify({ ...reference, metadata: { name: 'a' } })),
    );
    await expect(served.client.get(reference)).rejects.toMatchObject({ code: 'KUBERNETES_NO_SUCH_KIND' });
    known = kinds;
    expect((await served.client.get(reference)).metadata.name).toBe('a');
  });

  test('a long list is read page by page', async () => {
    await using served = await serve((path, response) => {
      if (path === '/api/v1') return response.end(kinds);
      const isLast = path.includes('continue=next');
      const metadata = { resourceVersion: '5', ...(isLast ? {} : { continue: 'next' }) };
      return response.end(JSON.stringify({ metadata, items: [{ metadata: { name: isLast ? 'z' : 'a' } }] }));
    });
    const { items } = await served.client.list({ apiVersion: 'v1', kind: 'ConfigMap' });
    expect(items.map(({ metadata }) => metadata.name)).toEqual(['a', 'z']);
  });
});
