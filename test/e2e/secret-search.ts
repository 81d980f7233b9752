// Where the secrets of a cluster's assets lie on the disks of its machines: every key and token is searched for, byte by
// byte, in everything that the machines wrote. What is allowed is the caller's to say.
import { execFileSync, spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { parse } from 'yaml';
import { machinesFolder } from '../../src/platform/local/cluster-folder.ts';

/** Name → what only somebody who holds the secret has. */
export type Needles = ReadonlyMap<string, readonly string[]>;

interface IgnitionFile {
  readonly path: string;
  readonly contents?: { readonly source?: string; readonly compression?: string };
}

/** Every private key and token in an Ignition config, by the path of the file that carries it. */
export function secretsOfIgnition(path: string): Needles {
  const config = JSON.parse(readFileSync(path, 'utf8')) as { storage: { files: readonly IgnitionFile[] } };
  return new Map(
    config.storage.files
      .map((file) => [file.path, needlesOf(contentOf(file))] as const)
      .filter(([, needles]) => needles.length > 0),
  );
}

/** The keys of the workstation's own folder. */
export function secretsOfFolder(folder: string): Needles {
  const names = readdirSync(folder).filter((name) => /\.(key|json)$/.test(name));
  return new Map(names.map((name) => [name, needlesOf(readFileSync(join(folder, name), 'utf8'))]));
}

function contentOf({ contents }: IgnitionFile): string {
  const [, isBase64, data = ''] = /^data:[^,]*?(;base64)?,(.*)$/s.exec(contents?.source ?? '') ?? [];
  const bytes = isBase64 === undefined ? Buffer.from(decodeURIComponent(data)) : Buffer.from(data, 'base64');
  return (contents?.compression === 'gzip' ? gunzipSync(bytes) : bytes).toString('utf8');
}

/** A line of a key as PEM, the same key inside a kubeconfig, keys of an EncryptionConfiguration, tokens as they travel. */
export function needlesOf(text: string): readonly string[] {
  const keys = [...text.matchAll(/-----BEGIN (?:EC |RSA )?PRIVATE KEY-----\n([^\n]{40,})\n/g)].map(
    ([, line = '']) => line,
  );
  const inline = [...text.matchAll(/client-key-data: *"?([A-Za-z0-9+/=]+)/g)].flatMap(([, encoded = '']) => [
    encoded.slice(60, 140),
    ...needlesOf(Buffer.from(encoded, 'base64').toString('utf8')),
  ]);
  const encryption = [...text.matchAll(/"secret": "([A-Za-z0-9+/=]{44})"/g)].map(([, secret = '']) => secret);
  return [...keys, ...inline, ...encryption, ...tokensOf(text)];
}

function tokensOf(text: string): readonly string[] {
  if (!/^\s*(- )?"?token"?:/m.test(text)) return [];
  const found: string[] = [];
  JSON.stringify(parse(text), (key, value: unknown) => {
    if (key === 'token' && typeof value === 'string') found.push(value);
    return value;
  });
  return found;
}

/** Secret → `machine:path` of every file that holds it. */
export function whereOnDisks(
  cluster: string,
  needles: Needles,
  scratch: string,
): ReadonlyMap<string, readonly string[]> {
  const list = join(scratch, 'needles');
  writeFileSync(list, [...needles.values()].flat().join('\n'), { mode: 0o600 });
  const folder = machinesFolder(cluster);
  // What sits in memory only would go down with the machine; what was written must reach the disk before we look.
  execFileSync('sync');
  const { stdout } = spawnSync('grep', ['-raoF', '--file', list, folder], { encoding: 'utf8', maxBuffer: 64e6 });
  const hits = stdout.split('\n').filter((line) => line !== '');
  return new Map(
    [...needles].map(([name, parts]) => {
      const files = hits.filter((hit) => parts.some((part) => hit.endsWith(`:${part}`)));
      const places = files.map((hit) => hit.slice(folder.length + 1, hit.lastIndexOf(':')).replace('/', ':/'));
      return [name, [...new Set(places)].sort()];
    }),
  );
}
