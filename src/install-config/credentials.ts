// Checks of the pull secret, the proxy and the trust bundle. None of them repeats a secret in what it says.

import { X509Certificate } from 'node:crypto';
import { z } from 'zod';
import { jsonIfValid } from '../host/json-if-valid.ts';
import { quoted } from '../source-text/quoted-text.ts';
import { addressMistake, rangeMistake } from './cidr.ts';
import { dnsSubdomainMistake } from './dns-name.ts';
import { holdsPrivateKey } from './ssh-public-key.ts';

const pullSecretShape = z.looseObject({
  auths: z.record(z.string(), z.looseObject({ auth: z.string().optional(), credsStore: z.string().optional() })),
});

export function pullSecretMistake(text: string): string | undefined {
  const json = jsonIfValid(text);
  if (json === undefined) return 'is not JSON';
  const read = pullSecretShape.safeParse(json);
  if (!read.success) return 'has no map "auths" of registries, each with "auth"';
  const registries = Object.entries(read.data.auths);
  if (registries.length === 0) return 'names no registry under "auths"';
  const bare = registries.find(([, entry]) => (entry.auth ?? '') === '' && (entry.credsStore ?? '') === '');
  return bare === undefined ? undefined : `has neither "auth" nor "credsStore" for ${quoted(bare[0])}`;
}

export function proxyMistake(text: string, schemes: readonly string[]): string | undefined {
  // A URL parser drops blanks and line ends; the files that proxies are written to keep them.
  if (/[\s\p{Cc}]/u.test(text)) return 'has a blank or a control character';
  if (!URL.canParse(text)) return 'is not a URL';
  const url = new URL(text);
  // The text is judged, not the URL: a parser forgives upper case and missing slashes, other readers do not.
  const beginnings = schemes.map((scheme) => `${scheme}//`);
  if (!beginnings.some((beginning) => text.startsWith(beginning))) return `must begin with ${beginnings.join(' or ')}`;
  if (url.hostname === '') return 'names no host';
  if (url.pathname.length > 1 || url.search !== '' || url.hash !== '') return 'has something after the host and port';
  return undefined;
}

/** A comma-separated list of addresses, ranges and domains (`.example.test` takes in what is below it). */
export function noProxyMistake(text: string): string | undefined {
  for (const item of text.split(',')) {
    if (item === '') return 'has an empty entry between commas';
    if (/\s/.test(item)) return `has a blank in the entry ${quoted(item)}`;
    if (item.includes('*'))
      return `has a wildcard in ${quoted(item)}; a leading dot takes in everything below a domain`;
    const isAddress = addressMistake(item) === undefined || rangeMistake(item) === undefined;
    if (!isAddress && dnsSubdomainMistake(item.replace(/^\./, '')) !== undefined) {
      return `has the entry ${quoted(item)}, which is neither an address nor a range nor a domain`;
    }
  }
  return undefined;
}

export function trustBundleMistake(text: string): string | undefined {
  if (holdsPrivateKey(text)) return 'holds a private key; only certificates belong here';
  const blocks = text.match(/-----BEGIN ([A-Z0-9 ]+)-----[^-]*-----END \1-----/g) ?? [];
  if (blocks.length === 0) return 'holds no PEM certificate';
  if (blocks.length !== (text.match(/-----BEGIN /g) ?? []).length) return 'has a PEM block without its end';
  const bad = blocks.findIndex((block) => !isCertificate(block));
  return bad === -1 ? undefined : `has a block that is not a certificate: number ${bad + 1} of ${blocks.length}`;
}

function isCertificate(block: string): boolean {
  if (!block.startsWith('-----BEGIN CERTIFICATE-----')) return false;
  try {
    return new X509Certificate(block).raw.length > 0;
  } catch {
    // Node reports every unreadable certificate with OpenSSL's own codes, which differ between its versions.
    return false;
  }
}

/** A repository: host with optional port, path; neither scheme nor tag nor digest. */
export function repositoryMistake(text: string): string | undefined {
  if (text.includes('://')) return 'has a scheme; write it as host/path';
  if (text.includes('@')) return 'has a digest; name the repository alone';
  const [host = '', ...path] = text.split('/');
  const [name = '', port] = host.split(':');
  if (dnsSubdomainMistake(name) !== undefined) return 'does not begin with the name of a registry';
  if (port !== undefined && !/^[1-9][0-9]{0,4}$/.test(port)) return 'has a port that is not a number';
  if (path.some((part) => part.includes(':'))) return 'has a tag; name the repository alone';
  return path.every((part) => /^[a-z0-9]+([._-]+[a-z0-9]+)*$/.test(part)) ? undefined : 'has a path no registry allows';
}
