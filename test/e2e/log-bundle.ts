// A log bundle as somebody else would look at it: unpacked by tar, and searched for secrets, also in what is encoded.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { needlesOf } from './secret-search.ts';

/** Path → text of every file, without the folder that all of it lies in. */
export type UnpackedBundle = ReadonlyMap<string, string>;

export function unpackBundle(path: string, scratch: string): UnpackedBundle {
  const folder = mkdtempSync(join(scratch, 'bundle-'));
  execFileSync('tar', ['-xzf', path, '-C', folder]);
  const [top = ''] = readdirSync(folder);
  const root = join(folder, top);
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((name) =>
    statSync(join(root, name)).isFile(),
  );
  return new Map(files.map((name) => [name, readFileSync(join(root, name), 'utf8')]));
}

export function bundlesIn(dir: string): readonly string[] {
  return readdirSync(dir)
    .filter((name) => name.startsWith('log-bundle-'))
    .map((name) => join(dir, name));
}

/** What only somebody who holds a secret of the asset folder has: lines of keys, tokens of pools, keys of encryption. */
export function secretsOfAssets(dir: string): readonly string[] {
  const files = ['tls', 'auth'].flatMap((folder) =>
    readdirSync(join(dir, folder)).map((name) => readFileSync(join(dir, folder, name), 'utf8')),
  );
  const ignition = ['bootstrap.ign', 'master.ign', 'worker.ign']
    .map((name) => join(dir, name))
    .filter(existsSync)
    .map((path) => readFileSync(path, 'utf8'));
  const tokens = [...files, ...ignition].flatMap((text) => [...text.matchAll(/\bfl[a-z]_[\w-]{20,}/g)].map(String));
  return [...new Set([...files.flatMap(needlesOf), ...ignition.flatMap(needlesOf), ...tokens])];
}

/** `FILE: the first letters of the secret` of every secret that is found, in whatever encoding. */
export function secretsIn(bundle: UnpackedBundle, secrets: readonly string[]): readonly string[] {
  return [...bundle].flatMap(([path, text]) => {
    const readings = [text, ...decodings(text)].join('\n');
    return secrets.filter((secret) => readings.includes(secret)).map((secret) => `${path}: ${secret.slice(0, 6)}…`);
  });
}

/** Whatever is base64 or URL-encoded, decoded and decompressed; twice, as keys in kubeconfigs in Secrets are. */
function decodings(text: string, depth = 2): readonly string[] {
  const decoded = (text.match(/[A-Za-z0-9+/]{24,}={0,2}/g) ?? []).map((found) => {
    const bytes = Buffer.from(found, 'base64');
    try {
      return (bytes[0] === 0x1f && bytes[1] === 0x8b ? gunzipSync(bytes) : bytes).toString('latin1');
    } catch {
      return bytes.toString('latin1');
    }
  });
  const unescaped = text.includes('%')
    ? [text.replaceAll(/%([0-9A-Fa-f]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))]
    : [];
  const all = [...unescaped, ...decoded.filter((one) => /[\x20-\x7e]{12}/.test(one))];
  return depth === 1 ? all : [...all, ...all.flatMap((one) => decodings(one, depth - 1))];
}
