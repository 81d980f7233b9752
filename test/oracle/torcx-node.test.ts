// What the node itself must agree with: systemd reads our units, a proxy carries our requests, and a lock holds among
// processes.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { realFiles } from '../../src/host/real/files.ts';
import { realNetwork } from '../../src/host/real/network.ts';
import { kubeletGate, nodeBootstrapUnit } from '../../src/torcx/node-bootstrap-unit.ts';
import { makeIdentities } from './torcx/identities.ts';
import { startServer } from './torcx/servers.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync('/tmp/flnode-');
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('systemd finds nothing wrong with the bootstrap unit and the kubelet’s gate', () => {
  const units = join(folder, 'units');
  mkdirSync(join(units, 'kubelet.service.d'), { recursive: true });
  const program = '/bin/true';
  const manifestUrl = 'https://x.test/{{.Board}}/{{.OSVersion}}/100%/$a b.json';
  const unit = nodeBootstrapUnit({ program, upgradesOs: true, skipsSetup: false, manifestUrl });
  const [dropin] = kubeletGate.dropins ?? [];
  writeFileSync(join(units, unit.name), unit.contents ?? '');
  writeFileSync(join(units, 'kubelet.service'), '[Service]\nExecStart=/bin/true\nRestart=always\nRestartSec=10\n');
  writeFileSync(join(units, 'kubelet.service.d', dropin?.name ?? ''), dropin?.contents ?? '');
  const { status, stderr } = spawnSync(
    'systemd-analyze',
    ['verify', '--man=no', '--recursive-errors=no', join(units, unit.name), join(units, 'kubelet.service')],
    { encoding: 'utf8', env: { ...process.env, SYSTEMD_UNIT_PATH: `${units}:` } },
  );
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
});

test('a request goes through a proxy, TLS to the end', async () => {
  await using server = await startServer(makeIdentities().server);
  const identities = makeIdentities();
  await using trusted = await startServer(identities.server);
  trusted.replies.set('/x', [{ body: 'through' }]);
  const asked: string[] = [];
  const proxy = createServer();
  proxy.on('connect', (request, client, head) => {
    asked.push(request.url ?? '');
    const [host = '', port = ''] = (request.url ?? '').split(':');
    const upstream = connect(Number(port), host, () => {
      client.write('HTTP/1.1 200 Connection Established\r\n\r\n');
      upstream.write(head);
      upstream.pipe(client).pipe(upstream);
    });
    for (const socket of [client, upstream]) socket.on('error', () => socket.destroy());
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  const through = { proxy: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`, ca: identities.server.ca };
  const network = realNetwork();
  const answer = await network.request({ url: `${trusted.url}/x`, ...through });
  expect({ status: answer.status, body: Buffer.from(answer.body).toString() }).toEqual({
    status: 200,
    body: 'through',
  });
  expect(asked).toEqual([new URL(trusted.url).host]);
  await expect(network.request({ url: `${server.url}/x`, ...through })).rejects.toMatchObject({
    details: { failure: 'tls' },
  });
  const { isInsecure, url } = { isInsecure: true, url: `${server.url}/x` };
  expect(await network.request({ url, isInsecure })).toMatchObject({ status: 404 });
  proxy.closeAllConnections();
  proxy.close();
});

test('a file lock excludes another process and is free again when its holder is killed', async () => {
  const path = join(folder, 'lock');
  const lockModule = new URL('../../src/host/real/locks.ts', import.meta.url).href;
  const script = `const { lockFile } = await import('${lockModule}');
    const lock = await lockFile('${path}'); console.log(lock === undefined ? 'refused' : 'held'); setInterval(() => lock, 1000);`;
  const holder = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  expect(String((await once(holder.stdout, 'data'))[0])).toBe('held\n');
  expect(await realFiles().lockFile(path)).toBeUndefined();
  holder.kill('SIGKILL');
  await once(holder, 'exit');
  const lock = await realFiles().lockFile(path);
  expect(lock).toBeDefined();
  await lock?.[Symbol.asyncDispose]();
});
