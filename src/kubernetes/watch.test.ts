import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { waitingFor } from '../contract/missing.ts';
import type { FirstlightError } from '../errors/firstlight-error.ts';
import { realHost } from '../host/real/real-host.ts';
import { connectKubernetes, type KubernetesClient } from './client.ts';
import type { KubernetesObject } from './object.ts';
import { jsonLines, waitForObjects, watchObjects } from './watch.ts';

// An API server of a few lines that speaks the watch protocol over real connections and misbehaves as told.
interface Api {
  readonly watches: URL[];
  readonly lists: URL[];
}
type Answer = (response: ServerResponse) => void;

const host = realHost();
const kind = { apiVersion: 'v1', kind: 'ConfigMap' };
const closers: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

async function serve(lists: readonly Answer[], watches: readonly Answer[]): Promise<[KubernetesClient, Api]> {
  const api: Api = { watches: [], lists: [] };
  const server: Server = createServer((request: IncomingMessage, response: ServerResponse) => {
    const url = new URL(request.url ?? '/', 'http://api');
    if (url.pathname === '/api/v1') {
      json(response, { resources: [{ name: 'configmaps', kind: 'ConfigMap', namespaced: true }] });
    } else if (url.searchParams.get('watch') === 'true') {
      api.watches.push(url);
      (watches[api.watches.length - 1] ?? stay)(response);
    } else {
      api.lists.push(url);
      (lists[api.lists.length - 1] ?? lists.at(-1) ?? stay)(response);
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const text = JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'c', cluster: { server: `http://127.0.0.1:${port}`, 'insecure-skip-tls-verify': true } }],
    contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
    users: [{ name: 'u', user: {} }],
    'current-context': 'c',
  });
  const client = await connectKubernetes(host, { text });
  closers.push(async () => {
    await client[Symbol.asyncDispose]();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return [client, api];
}

const json = (response: ServerResponse, body: unknown, status = 200): void => {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
};
const list =
  (resourceVersion: string, ...names: readonly string[]): Answer =>
  (response) =>
    json(response, {
      metadata: { resourceVersion },
      items: names.map((name) => ({ metadata: { name, namespace: 'x', resourceVersion } })),
    });
const event = (type: string, name: string, resourceVersion: string): string =>
  `${JSON.stringify({ type, object: { ...kind, metadata: { name, namespace: 'x', resourceVersion } } })}\n`;
/** Sends these lines and keeps the watch open, or ends it as told. */
const send =
  (lines: readonly string[], end: 'stay' | 'close' | 'break' = 'stay'): Answer =>
  (response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.flushHeaders();
    response.write(lines.join(''), () => {
      if (end === 'close') response.end();
      if (end === 'break') response.destroy();
    });
    if (lines.length === 0 && end === 'close') response.end();
  };
const stay = send([]);

async function collect(
  client: KubernetesClient,
  count: number,
  { slowMs = 0, ...more }: { readonly idleMs?: number; readonly slowMs?: number } = {},
): Promise<{ seen: string[][]; troubles: string[] }> {
  const seen: string[][] = [];
  const troubles: string[] = [];
  const onTrouble = ({ code }: FirstlightError): unknown => troubles.push(code);
  const signal = AbortSignal.timeout(8_000);
  for await (const items of watchObjects<KubernetesObject>({ client, host, kind, signal, onTrouble, ...more })) {
    seen.push(items.map(({ metadata }) => metadata.name));
    if (seen.length === count) break;
    await host.clock.sleep(slowMs);
  }
  return { seen, troubles };
}
const version = (url: URL | undefined): string | null => url?.searchParams.get('resourceVersion') ?? null;

describe('a watch', () => {
  test('gives the whole state at first and after a change, and drops states that nobody read', async () => {
    const lines = [event('ADDED', 'b', '11'), event('MODIFIED', 'a', '12'), event('DELETED', 'a', '13')];
    const [client, api] = await serve([list('10', 'a')], [send(lines)]);
    const { seen } = await collect(client, 2, { slowMs: 300 });
    expect(seen).toEqual([['a'], ['b']]);
    expect(version(api.watches[0])).toBe('10');
  });

  test('keeps of each object what it is told to, and lists in pages as small as it is told to', async () => {
    const [client, api] = await serve([list('10', 'a')], [send([event('ADDED', 'b', '11')])]);
    const seen: (readonly KubernetesObject[])[] = [];
    const keep = ({ metadata: { name } }: KubernetesObject): KubernetesObject => ({ ...kind, metadata: { name } });
    const options = { client, host, kind, signal: AbortSignal.timeout(8_000), pageSize: 4, keep };
    for await (const items of watchObjects<KubernetesObject>(options)) if (seen.push(items) === 2) break;
    expect(seen.at(-1)).toEqual([
      { ...kind, metadata: { name: 'a' } },
      { ...kind, metadata: { name: 'b' } },
    ]);
    expect(api.lists[0]?.searchParams.get('limit')).toBe('4');
  });

  test('resumes from the last version it saw, bookmarks included, without listing again', async () => {
    const first = send([event('ADDED', 'b', '11'), event('BOOKMARK', '', '20')], 'close');
    const [client, api] = await serve([list('10', 'a')], [first, send([event('ADDED', 'c', '21')])]);
    const { seen, troubles } = await collect(client, 3);
    expect(seen.at(-1)).toEqual(['a', 'b', 'c']);
    expect(api.watches.map(version)).toEqual(['10', '20']);
    expect(api.lists).toHaveLength(1);
    expect(troubles).toEqual([]);
  });

  test('a connection that breaks in the middle of a line loses nothing', async () => {
    const first = send([event('ADDED', 'b', '11'), event('ADDED', 'c', '12').slice(0, 30)], 'break');
    const [client, api] = await serve([list('10', 'a')], [first, send([event('ADDED', 'c', '12')])]);
    const { seen, troubles } = await collect(client, 3);
    expect(seen.at(-1)).toEqual(['a', 'b', 'c']);
    expect(api.watches.map(version)).toEqual(['10', '11']);
    expect(troubles).toEqual(['KUBERNETES_UNREACHABLE']);
  });

  test('410, as an answer or as an event, leads to a fresh list at once', async () => {
    const gone = { kind: 'Status', code: 410, reason: 'Expired', message: 'too old resource version' };
    const [client, api] = await serve(
      [list('10', 'a'), list('50', 'b'), list('90', 'c')],
      [
        send([`${JSON.stringify({ type: 'ERROR', object: gone })}\n`]),
        (response) => json(response, gone, 410),
        send([event('ADDED', 'd', '91')]),
      ],
    );
    const { seen, troubles } = await collect(client, 4);
    expect(seen).toEqual([['a'], ['b'], ['c'], ['c', 'd']]);
    expect(api.watches.map(version)).toEqual(['10', '50', '90']);
    expect(troubles).toEqual([]);
  });

  test('a watch that falls silent is taken for dead and opened anew', async () => {
    const [client, api] = await serve([list('10', 'a')], [stay, send([event('ADDED', 'b', '11')])]);
    const { seen, troubles } = await collect(client, 2, { idleMs: 300 });
    expect(seen).toEqual([['a'], ['a', 'b']]);
    expect(api.watches.map(version)).toEqual(['10', '10']);
    expect(troubles).toEqual(['KUBERNETES_TIMEOUT']);
  });

  test('a version that the server keeps refusing is given up for a fresh list', async () => {
    const tooLarge: Answer = (response) =>
      json(response, { kind: 'Status', code: 504, reason: 'Timeout', message: 'Too large resource version' }, 504);
    const watches = [tooLarge, tooLarge, tooLarge, send([event('ADDED', 'b', '3')])];
    const [client, api] = await serve([list('1000', 'a'), list('2')], watches);
    const { seen } = await collect(client, 3);
    expect(seen).toEqual([['a'], [], ['b']]);
    expect(version(api.watches[3])).toBe('2');
  });

  test('ends with the reason of its signal, and closes its connection', async () => {
    const [client, api] = await serve([list('10', 'a')], [stay]);
    const stop = new AbortController();
    const reason = new Error('enough');
    const reading = (async () => {
      for await (const _ of watchObjects({ client, host, kind, signal: stop.signal })) {
        while (api.watches.length === 0) await host.clock.sleep(5);
        stop.abort(reason);
      }
    })();
    await expect(reading).rejects.toBe(reason);
  });
});

describe('waiting for objects', () => {
  test('says at its deadline what was still missing', async () => {
    const [client] = await serve([list('10', 'a')], [stay]);
    const wait = waitForObjects(
      { client, host, kind, signal: new AbortController().signal, what: 'the hand-over', deadlineMs: 300 },
      (items) => ({ status: 'waiting', missing: [waitingFor('b', `is not among ${items.length}`)] }),
    );
    await expect(wait).rejects.toMatchObject({
      code: 'WORKFLOW_DEADLINE',
      message: 'the hand-over did not happen within 0 s; still missing: b is not among 1',
    });
  });

  test('returns what the look found, from the list or a later change', async () => {
    const [client] = await serve([list('10', 'a')], [send([event('ADDED', 'b', '11')])]);
    const found = await waitForObjects(
      { client, host, kind, signal: new AbortController().signal, what: 'b', deadlineMs: 5_000 },
      (items) =>
        items.length === 2
          ? { status: 'ready', value: items.length }
          : { status: 'waiting', missing: [waitingFor('b')] },
    );
    expect(found).toBe(2);
  });
});

test('values come out whole, wherever the bytes were cut, and a cut-off end is no value', async () => {
  const bytes = Buffer.from('{"a":"ä"}\n\n{"b":2}\n{"c":');
  for (let size = 1; size <= bytes.length; size += 1) {
    const chunks = (async function* () {
      for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
    })();
    const values: unknown[] = [];
    for await (const value of jsonLines(chunks)) values.push(value);
    expect(values).toEqual([{ a: 'ä' }, { b: 2 }]);
  }
});
