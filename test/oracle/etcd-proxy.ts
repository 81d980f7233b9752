// A wire that can be made to swallow what a member answers, so that a change happens and nobody hears of it.
import { connect, createServer, type Socket } from 'node:net';
import type { EtcdClient, EtcdClients } from '../../src/etcd/client.ts';

export interface SwallowingProxy extends Disposable {
  readonly url: string;
  isSwallowing: boolean;
}

export async function swallowingProxy(target: string): Promise<SwallowingProxy> {
  const port = Number(new URL(target).port);
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect(port, '127.0.0.1');
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => {
        near.destroy();
        far.destroy();
      });
    }
    near.pipe(far);
    far.on('data', (chunk: Buffer) => {
      if (!proxy.isSwallowing) near.write(chunk);
    });
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const proxy = {
    url: `https://127.0.0.1:${(server.address() as { port: number }).port}`,
    isSwallowing: false,
    [Symbol.dispose]: () => {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
  return proxy;
}

/** The answers to all calls of one kind are lost on the way; everything else goes through untouched. */
export function losingAnswers(
  clients: EtcdClients,
  call: 'addLearner' | 'promote' | 'remove',
): { readonly clients: EtcdClients; readonly sent: string[] } {
  const sent: string[] = [];
  const wrap = (client: EtcdClient): EtcdClient => ({
    ...client,
    [call]: async (what: string, options: { readonly signal?: AbortSignal }) => {
      sent.push(what);
      using proxy = await swallowingProxy(client.url);
      const behind = clients.at(proxy.url);
      await behind.status();
      proxy.isSwallowing = true;
      return await behind[call](what as never, { ...options, timeoutMs: 400 });
    },
  });
  return { sent, clients: { at: (url) => wrap(clients.at(url)), [Symbol.dispose]: () => {} } };
}
