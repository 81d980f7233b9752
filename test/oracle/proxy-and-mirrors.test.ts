// The way out to the world, walked by the real client of containerd: with the files that machines get, it passes the
// proxy with user and password, believes the added authority, and finds images where the install-config says.
// Names end in .test and are never resolved: the proxy, which is ours and on loopback, is the only way.
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as createProxy, type Server } from 'node:http';
import { createServer as createRegistry } from 'node:https';
import { type AddressInfo, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { machineProxy, mirroredRegistries, proxyCredentialsContent } from '../../src/assets/proxy-and-mirrors.ts';
import { registryHostsFolder } from '../../src/contract/machine-paths.ts';
import { parseInstallConfig } from '../../src/install-config/parse.ts';
import { proxyEnvironmentText } from '../../src/machine-software/proxy.ts';
import { registryHostsFile } from '../../src/machine-software/registry-hosts.ts';
import { authorityFiles } from '../../src/machine-software/system-trust.ts';
import { someAuthority } from '../arbitrary/install-config.ts';
import { judge, oracleProgram } from './programs.ts';

const folder = mkdtempSync(join(tmpdir(), 'firstlight-proxy-and-mirrors-'));
const manifest = JSON.stringify({ schemaVersion: 2, mediaType: 'application/vnd.oci.image.manifest.v1+json' });
const digest = `sha256:${createHash('sha256').update(manifest).digest('hex')}`;
/** What was asked, in order: `CONNECT mirror.test:443`, `HEAD mirror.test /v2/team/web/manifests/…`. */
let asked: string[] = [];
/** Where the image is; everywhere else is a plain 404. */
let home = '';
const servers: Server[] = [];

function makeAuthority(): void {
  const names = ['registry.test', 'mirror.test'].map((name) => `DNS:${name}`).join(',');
  const { code, output } = judge('openssl', [
    'req',
    '-x509',
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:P-256',
    '-nodes',
    '-days',
    '2',
    '-subj',
    '/CN=authority of the test',
    '-addext',
    `subjectAltName=${names}`,
    '-keyout',
    join(folder, 'key.pem'),
    '-out',
    join(folder, 'authority.pem'),
  ]);
  if (code !== 0) throw new Error(output);
}

async function listening(server: Server): Promise<number> {
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  return (server.address() as AddressInfo).port;
}

async function startRegistry(): Promise<number> {
  const pair = { key: readFileSync(join(folder, 'key.pem')), cert: readFileSync(join(folder, 'authority.pem')) };
  return listening(
    createRegistry(pair, ({ method, url = '', headers }, response) => {
      const target = `${headers.host ?? ''} ${url.split('?')[0]?.replace(digest, 'DIGEST')}`;
      asked.push(`${method} ${target}`);
      const type = 'application/vnd.oci.image.manifest.v1+json';
      const found = { 'content-type': type, 'docker-content-digest': digest, 'content-length': manifest.length };
      if (target.startsWith(home)) response.writeHead(200, found).end(method === 'HEAD' ? undefined : manifest);
      else response.writeHead(404).end();
    }),
  );
}

async function startProxy(registryPort: number): Promise<number> {
  const proxy = createProxy();
  proxy.on('connect', ({ url, headers }, socket) => {
    const user = Buffer.from((headers['proxy-authorization'] ?? '').replace('Basic ', ''), 'base64').toString();
    asked.push(`CONNECT ${url} as ${user}`);
    if (user !== 'machines:open"$esame') return socket.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n');
    const registry = connect(registryPort, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      socket.pipe(registry).pipe(socket);
    });
    for (const end of [socket, registry]) end.on('error', () => end.destroy());
    return undefined;
  });
  return listening(proxy);
}

/** What a machine finds, below our folder. */
function writeMachineFiles(proxyPort: number): void {
  const { config } = parseInstallConfig(
    `proxy: {httpsProxy: "http://machines:open%22%24esame@127.0.0.1:${proxyPort}"}
imageDigestSources:
- {source: registry.test/team, mirrors: [mirror.test/team, mirror.test/copies/team]}
`,
    { file: 'f', architecture: 'amd64' },
  );
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  };
  write('proxy.env', proxyEnvironmentText(machineProxy(config)!));
  write('credentials.env', proxyCredentialsContent(config)!);
  for (const registry of mirroredRegistries(config)) {
    const { path, text } = registryHostsFile(registry);
    write(path, text);
  }
  const authority = readFileSync(join(folder, 'authority.pem'), 'utf8');
  for (const { path, text } of authorityFiles(`${authority}\n# and another\n${someAuthority}`)) write(path, text);
}

/** The tool of the machine, told to work in our folder. */
function updateTrust(): string {
  mkdirSync(join(folder, 'etc/ssl/certs'), { recursive: true });
  mkdirSync(join(folder, 'hooks'), { recursive: true });
  const run = spawnSync(
    '/usr/sbin/update-ca-certificates',
    [
      '--localcertsdir',
      join(folder, 'usr/local/share/ca-certificates'),
      // None of the system's own, so that the count is of ours.
      '--certsconf',
      '/dev/null',
      '--etccertsdir',
      join(folder, 'etc/ssl/certs'),
      '--hooksdir',
      join(folder, 'hooks'),
    ],
    { encoding: 'utf8' },
  );
  if (run.status !== 0) throw new Error(run.stderr);
  return run.stdout + run.stderr;
}

/** A shell reads the files as systemd does: both know these quotes. */
function fetchObject(reference: string, files: readonly string[]): Promise<string> {
  const load = files.map((file) => `. ${join(folder, file)}`).join('; ');
  const command = `set -a; ${load}; exec "$0" content fetch-object --hosts-dir "$1" "$2"`;
  const child = spawn('bash', ['-c', command, oracleProgram('ctr'), join(folder, registryHostsFolder), reference], {
    env: { PATH: '/usr/bin:/bin', SSL_CERT_FILE: join(folder, 'etc/ssl/certs/ca-certificates.crt') },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  return new Promise((resolve) => child.once('close', () => resolve(output)));
}

let saidOfTrust = '';
beforeAll(async () => {
  makeAuthority();
  writeMachineFiles(await startProxy(await startRegistry()));
  saidOfTrust = updateTrust();
});
afterAll(() => {
  for (const server of servers) {
    server.closeAllConnections();
    server.close();
  }
  rmSync(folder, { recursive: true, force: true });
});

const both = ['proxy.env', 'credentials.env'];
const requests = (): readonly string[] => asked.filter((line) => !line.startsWith('CONNECT'));

test('update-ca-certificates takes both authorities without a complaint', () => {
  expect(saidOfTrust).toMatch(/\b2 added, 0 removed/);
  expect(saidOfTrust).not.toMatch(/warning|skipping/i);
});

test('an image named by digest is looked for at each mirror under its path, and last where it belongs', async () => {
  asked = [];
  home = `registry.test /v2/team/web/manifests/`;
  expect(await fetchObject(`registry.test/team/web@${digest}`, both)).toContain(manifest);
  const places = requests().filter((line) => line.includes('/manifests/'));
  expect([...new Set(places.map((line) => line.split(' ').slice(1).join(' ')))]).toEqual([
    'mirror.test /v2/team/web/manifests/DIGEST',
    'mirror.test /v2/copies/team/web/manifests/DIGEST',
    'registry.test /v2/team/web/manifests/DIGEST',
  ]);
  expect(asked[0]).toBe('CONNECT mirror.test:443 as machines:open"$esame');
});

test('the first mirror that has it is the only one that is asked', async () => {
  asked = [];
  home = `mirror.test /v2/copies/team/`;
  expect(await fetchObject(`registry.test/team/web@${digest}`, both)).toContain(manifest);
  expect(asked.filter((line) => line.includes('registry.test'))).toEqual([]);
});

test('what a tag means is asked where it belongs, and never of a mirror', async () => {
  asked = [];
  home = `registry.test /v2/team/web/manifests/`;
  expect(await fetchObject('registry.test/team/web:1', both)).toContain(manifest);
  expect(requests()[0]).toBe('HEAD registry.test /v2/team/web/manifests/1');
  expect(requests().filter((line) => line.endsWith('/manifests/1') && !line.includes('registry.test'))).toEqual([]);
});

test('without the credentials the proxy lets nobody through', async () => {
  asked = [];
  await fetchObject(`registry.test/team/web@${digest}`, ['proxy.env']);
  expect(asked[0]).toBe('CONNECT mirror.test:443 as ');
  expect(requests()).toEqual([]);
});
