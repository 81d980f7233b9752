// A read-only OCI registry over TLS, with a user and a password, that serves an OCI layout below one path; run in a network
// namespace of a cluster: `node registry-server.ts '<JSON settings>'`. Prints `ready`, then one line per request.
import { createReadStream, existsSync, readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:https';
import { join } from 'node:path';

export interface RegistryServerSettings {
  readonly address: string;
  readonly port: number;
  readonly certificate: string;
  readonly key: string;
  readonly layout: string;
  /** Every repository is below it: `/v2/<path>/<name>/…`. */
  readonly path: string;
  /** `user:password`. */
  readonly login: string;
}

const settings = JSON.parse(process.argv[2] ?? '{}') as RegistryServerSettings;
const route = new RegExp(`^/v2/${settings.path}/[a-z-]+/(manifests|blobs)/sha256:([0-9a-f]{64})$`);

createServer({ cert: settings.certificate, key: settings.key }, ({ method, url = '', headers }, response) => {
  const user = Buffer.from((headers.authorization ?? '').replace('Basic ', ''), 'base64').toString();
  process.stdout.write(`${user} ${method} ${url}\n`);
  if (user !== settings.login) {
    return void response.writeHead(401, { 'www-authenticate': 'Basic realm="registry"' }).end();
  }
  const [, kind, digest = ''] = route.exec(url.split('?')[0] ?? '') ?? [];
  const path = join(settings.layout, 'blobs/sha256', digest);
  if (kind === undefined || !existsSync(path)) return void response.writeHead(404).end();
  const type =
    kind === 'blobs'
      ? 'application/octet-stream'
      : (JSON.parse(readFileSync(path, 'utf8')) as { mediaType: string }).mediaType;
  response.writeHead(200, {
    'content-type': type,
    'content-length': statSync(path).size,
    'docker-content-digest': `sha256:${digest}`,
  });
  if (method === 'HEAD') response.end();
  else createReadStream(path).pipe(response);
}).listen(settings.port, settings.address, () => process.stdout.write('ready\n'));
