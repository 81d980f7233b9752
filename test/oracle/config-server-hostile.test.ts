// What the config server must outlive: silent and slow clients by the thousand, wrong protocols, bad certificates, files
// that are half written, load balancers and whoever pretends to be one. Real sockets, on loopback.
import { spawnSync } from 'node:child_process';
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { connect, type Socket } from 'node:net';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ask, bearer, type Lab, type LabServer, makeLab, startServer, tokens } from './config-server-lab.ts';

let lab: Lab;
let server: LabServer;
let slow: Promise<string>;
const sockets: Socket[] = [];
beforeAll(async () => {
  lab = makeLab();
  server = await startServer(lab);
  slow = dripHeaders();
});
afterAll(async () => {
  for (const socket of sockets) socket.destroy();
  const status = await server?.stop();
  lab?.[Symbol.dispose]();
  if (status !== 0) throw new Error(`the server ended with ${status}`);
});

function open(from: string, port = server.port): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port, localAddress: from }, () => resolve(socket));
    sockets.push(socket.on('error', reject));
  });
}

const ended = (socket: Socket): Promise<void> =>
  socket.closed ? Promise.resolve() : new Promise((resolve) => socket.once('close', () => resolve()));
const fetchMaster = (from: string) =>
  ask(lab, server, '/config/master', { ...bearer(tokens.master), localAddress: from });
const address = (index: number): string => `127.1.${index >> 8}.${index & 255}`;

describe('clients that say nothing', () => {
  test('two thousand of them, from two thousand addresses, keep nobody from being served', async () => {
    const idle = await Promise.all(Array.from({ length: 2_000 }, (_, index) => open(address(index))));
    const started = performance.now();
    const answers = await Promise.all(Array.from({ length: 20 }, (_, index) => fetchMaster(`127.2.0.${index + 1}`)));
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    expect(performance.now() - started).toBeLessThan(5_000);
    for (const socket of idle) socket.destroy();
  });

  test('from one address they take no more than the share of that address, and make way for their neighbours', async () => {
    const idle = await Promise.all(Array.from({ length: 256 }, () => open('127.3.0.1')));
    // Young connections are left alone for a second; a machine that is turned away meanwhile comes again.
    const served = (): Promise<number> =>
      fetchMaster('127.3.0.1').then(
        ({ status }) => status,
        () => 0,
      );
    await expect.poll(served, { timeout: 10_000, interval: 200 }).toBe(200);
    await server.logged((line) => line['kind'] === 'full' && line['limit'] === 'address' && line['closed'] === 'old');
    for (const socket of idle) socket.destroy();
  });
});

describe('clients that speak something else', () => {
  test('plain HTTP on the TLS port gets no answer, and the log says what it was', async () => {
    const socket = await open('127.4.0.1');
    socket.write('GET /config/master HTTP/1.1\r\nHost: x\r\n\r\n');
    await ended(socket);
    expect((await server.logged((line) => line['kind'] === 'plain-http'))['text']).toContain('plain HTTP');
  });

  test('TLS 1.0 and 1.1 are refused by us, 1.2 and 1.3 are spoken', async () => {
    const handshake = (version: string): string => {
      const args = ['s_client', '-connect', `127.0.0.1:${server.port}`, `-${version}`, '-cipher', 'ALL:@SECLEVEL=0'];
      const { stdout, stderr } = spawnSync('openssl', args, { input: 'Q\n', encoding: 'utf8' });
      return `${stdout}${stderr}`;
    };
    for (const version of ['tls1', 'tls1_1'])
      expect(handshake(version)).toMatch(/alert protocol version|alert number 70/);
    expect((await server.logged((line) => line['kind'] === 'tls'))['text']).toContain('no TLS 1.2');
    expect(handshake('tls1_2')).toContain('Cipher is ECDHE-ECDSA-AES');
    expect(handshake('tls1_3')).toContain('TLSv1.3');
  });

  test('garbage before, in and instead of a handshake ends that connection and nothing else', async () => {
    for (const bytes of [
      Buffer.alloc(4_096, 0x16),
      Buffer.from('1603010200010001fc0303ffff', 'hex'),
      Buffer.alloc(1),
    ]) {
      const socket = await open('127.4.0.2');
      socket.end(bytes);
      await ended(socket);
    }
    expect((await fetchMaster('127.4.0.3')).status).toBe(200);
  });

  test('what is no HTTP inside TLS is told so', async () => {
    const socket = await openTls('127.4.0.4');
    const heard = readAll(socket);
    socket.write('\u0000\u0001 not http\r\n\r\n');
    expect(await heard).toMatch(/^HTTP\/1\.1 400/);
    await server.logged((line) => line['kind'] === 'bad-request');
  });
});

function openTls(from: string, port = server.port): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    const raw = connect({ host: '127.0.0.1', port, localAddress: from });
    const socket = connectTls({ socket: raw, ca: lab.rootCa.certificatePem, servername: 'localhost' }, () =>
      resolve(socket),
    );
    sockets.push(socket.on('error', reject));
  });
}

function readAll(socket: Socket): Promise<string> {
  let text = '';
  socket.on('data', (chunk) => (text += String(chunk)));
  return new Promise((resolve) => socket.once('close', () => resolve(text)));
}

describe('certificates', () => {
  const replace = (name: string, content: string): void => {
    writeFileSync(lab.at(`tls/.${name}`), content);
    renameSync(lab.at(`tls/.${name}`), lab.at(`tls/${name}`));
  };
  const shown = async (): Promise<string> => {
    const socket = await openTls('127.5.0.1');
    const { fingerprint256 } = socket.getPeerCertificate();
    socket.destroy();
    return fingerprint256;
  };

  test('are exchanged without an open connection noticing; a pair that does not match changes nothing', async () => {
    const before = await shown();
    const kept = await openTls('127.5.0.2');
    const over = (): Promise<string> => {
      kept.write('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n');
      return new Promise((resolve) => kept.once('data', (chunk) => resolve(String(chunk))));
    };
    expect(await over()).toContain('200 OK');
    const next = lab.pair();
    replace('machine-config-server.crt', next.certificatePem);
    const problem = await server.logged((line) => String(line['text']).startsWith('kept the certificate in use'));
    expect(problem['text']).toContain('the key belongs to another certificate');
    expect(await shown()).toBe(before);
    replace('machine-config-server.key', next.key.privatePem.reveal());
    await server.logged((line) => line['text'] === 'a new certificate is in use');
    expect(await shown()).not.toBe(before);
    expect(await over()).toContain('200 OK');
    expect(kept.getPeerCertificate().fingerprint256).toBe(before);
    kept.destroy();
  });

  test('that do not match their key keep the server from starting, with both names', async () => {
    using other = makeLab();
    other.write('tls/machine-config-server.key', lab.pair().key.privatePem.reveal());
    await expect(startServer(other)).rejects.toThrow(
      /machine-config-server\.crt and .*machine-config-server\.key: the key belongs to another certificate\s+\(CONFIGSERVER_PAIR\)/,
    );
  });
});

describe('files that change under the server', () => {
  const path = 'rendered/machine-pools/worker.yaml';

  test('half written they change nothing, gone they are waited for, and back again they are served', async () => {
    const whole = readFileSync(lab.at(path), 'utf8');
    const worker = () => ask(lab, server, '/config/worker', bearer(tokens.worker));
    lab.write(path, whole.slice(0, whole.length / 2));
    await server.logged((line) => String(line['text']).includes('worker.yaml cannot be used'));
    expect((await worker()).status).toBe(200);
    rmSync(lab.at(path));
    await expect.poll(async () => (await worker()).status, { timeout: 5_000 }).toBe(503);
    expect((await ask(lab, server, '/healthz')).status).toBe(503);
    const { missing } = (await (await fetch(`http://127.0.0.1:${server.localPort}/healthz`)).json()) as {
      missing: string[];
    };
    expect(missing.join()).toContain('pool worker');
    expect((await fetchMaster('127.6.0.1')).status).toBe(200);
    lab.write(path, whole);
    await expect.poll(async () => (await worker()).status, { timeout: 5_000 }).toBe(200);
  });

  test('pool tokens are exchanged while it runs, with an overlap', async () => {
    const digests = JSON.parse(readFileSync(lab.at('pool-tokens.json'), 'utf8')) as Record<string, object[]>;
    lab.write('pool-tokens.json', JSON.stringify({ ...digests, worker: [] }));
    const worker = () => ask(lab, server, '/config/worker', bearer(tokens.worker));
    await expect.poll(async () => (await worker()).status, { timeout: 5_000 }).toBe(511);
    lab.write('pool-tokens.json', JSON.stringify(digests));
    await expect.poll(async () => (await worker()).status, { timeout: 5_000 }).toBe(200);
  });
});

/** PROXY v2 for TCP over IPv4, from the given address. */
function proxyHeader(source: string): Buffer {
  const octets = [...source.split('.'), ...'127.0.0.1'.split('.')].map(Number);
  return Buffer.from([...Buffer.from('0d0a0d0a000d0a515549540a2111000c', 'hex'), ...octets, 0xab, 0xcd, 0x58, 0x5f]);
}

describe('load balancers', () => {
  test('are believed where they are configured, must speak PROXY there, and nobody else may', async () => {
    using balanced = makeLab();
    balanced.write('settings.json', JSON.stringify({ balancers: ['127.7.0.1'] }));
    const behind = await startServer(balanced);
    try {
      const through = (from: string, header: Buffer | undefined): Promise<string> =>
        new Promise((resolve) => {
          const raw = connect({ host: '127.0.0.1', port: behind.port, localAddress: from }, () => {
            if (header !== undefined) raw.write(header);
            const socket = connectTls({ socket: raw, ca: balanced.rootCa.certificatePem, servername: 'localhost' });
            socket.on('error', () => resolve('cut off'));
            socket.on('data', (chunk) => resolve(String(chunk).slice(0, 12)));
            const authorization = `Authorization: Bearer ${tokens.master}`;
            socket.write(`GET /config/master HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${authorization}\r\n\r\n`);
          });
        });
      expect(await through('127.7.0.1', proxyHeader('10.99.0.17'))).toBe('HTTP/1.1 200');
      expect(await behind.logged((line) => line['address'] === '10.99.0.17')).toMatchObject({ from: 'balancer' });
      expect(readFileSync(balanced.at('served/tokens'), 'utf8')).toContain('"issuedTo":"10.99.0.17"');
      expect(await through('127.7.0.1', undefined)).toBe('cut off');
      await behind.logged((line) => line['kind'] === 'proxy-header');
      // Somebody who is no balancer gives himself out as one: that is no TLS, and no address is taken from it.
      expect(await through('127.7.0.2', proxyHeader('10.99.0.18'))).toBe('cut off');
      expect(await through('127.7.0.2', undefined)).toBe('HTTP/1.1 200');
      // Without the load balancer its own address is noted: a token of nobody could be used by anybody.
      expect(readFileSync(balanced.at('served/tokens'), 'utf8')).toContain('"issuedTo":"127.7.0.2"');
      expect(behind.logText()).not.toContain('10.99.0.18');
      // The health check of a balancer speaks for itself.
      const local = Buffer.from('0d0a0d0a000d0a515549540a20000000', 'hex');
      expect(await through('127.7.0.1', local)).toBe('HTTP/1.1 200');
    } finally {
      expect(await behind.stop()).toBe(0);
    }
  });
});

describe('an end', () => {
  test('asked to stop it fails its health first, lets requests end, and a kill -9 loses no token that left', async () => {
    using ending = makeLab();
    const first = await startServer(ending);
    const held = await new Promise<TLSSocket>((resolve, reject) => {
      const socket = connectTls(
        { host: '127.0.0.1', port: first.port, ca: ending.rootCa.certificatePem, servername: 'localhost' },
        () => resolve(socket),
      );
      socket.on('error', reject);
    });
    const stopped = first.stop();
    await first.logged((line) => line['text'] === 'stopping');
    const health = await ask(ending, first, '/healthz');
    expect(health.status).toBe(503);
    const served = await ask(ending, first, '/config/master', bearer(tokens.master));
    expect(served.status).toBe(200);
    held.on('error', () => {});
    expect(await stopped).toBe(0);

    const second = await startServer(ending);
    const { body } = await ask(ending, second, '/config/master', bearer(tokens.master));
    const token = /token%3A%20([a-z0-9]{6}\.[a-z0-9]{16})/.exec(body)?.[1] ?? '';
    second.process.kill('SIGKILL');
    const third = await startServer(ending);
    const headers = { authorization: `Bearer ${token}`, 'idempotency-key': 'after-the-second-life' };
    expect((await ask(ending, third, '/keys/master', { headers })).status).toBe(200);
    expect(await third.stop()).toBe(0);
  });

  test('open, it warns at its start and never gives keys', async () => {
    using wide = makeLab();
    const first = await startServer(wide, ['--open']);
    expect(first.log().find((line) => line['level'] === 'warn')?.['text']).toContain('OPEN');
    const { status, body } = await ask(wide, first, '/config/master');
    expect(status).toBe(200);
    const token = /token%3A%20([a-z0-9]{6}\.[a-z0-9]{16})/.exec(body)?.[1] ?? '';
    const headers = { authorization: `Bearer ${token}`, 'idempotency-key': 'somebody-who-hopes' };
    expect((await ask(wide, first, '/keys/master', { headers })).status).toBe(404);
    expect(await first.stop()).toBe(0);
  });
});

/** A request whose headers come a byte at a time and never end; resolves with what was answered when it is over. */
async function dripHeaders(): Promise<string> {
  const socket = await openTls('127.8.0.1');
  const heard = readAll(socket);
  socket.write('GET /config/master HTTP/1.1\r\n');
  const drip = setInterval(() => socket.write('X'), 500);
  return heard.finally(() => clearInterval(drip));
}

describe('slow clients', () => {
  test('a request with a body that never comes is answered and closed', async () => {
    const status = await new Promise<number | undefined>((resolve, reject) => {
      const options = { host: '127.0.0.1', port: server.port, path: '/config/master', method: 'POST', agent: false };
      const sent = request({ ...options, ca: lab.rootCa.certificatePem, headers: { 'content-length': '1000000' } });
      sent.on('response', (response) => resolve(response.statusCode)).on('error', reject);
      sent.flushHeaders();
    });
    expect(status).toBe(511);
  });

  test('headers that come a byte at a time are cut off without a final status', { timeout: 30_000 }, async () => {
    expect(await slow).toBe('');
    await server.logged((line) => line['kind'] === 'too-slow' && line['phase'] === 'request');
  });
});
