// The checks of single values, as tables: what is refused and in which words, what is not.
import { describe, expect, test } from 'vitest';
import { someAuthority } from '../../test/arbitrary/install-config.ts';
import { addressMistake, overlap, rangeMistake, readRange } from './cidr.ts';
import {
  noProxyMistake,
  proxyMistake,
  pullSecretMistake,
  repositoryMistake,
  trustBundleMistake,
} from './credentials.ts';
import { dnsSubdomainMistake, endsLikeAnAddress } from './dns-name.ts';
import { runtimeMappingsMistake } from './node-bootstrap-schema.ts';
import { sshKeyLines, sshKeysMistake } from './ssh-public-key.ts';

type Table = readonly (readonly [text: string, mistake: string | undefined])[];

/** The rows the check does not agree with, with what it says instead. */
function disagreements(check: (text: string) => string | undefined, table: Table): Table {
  return table.filter(([text, mistake]) => check(text) !== mistake).map(([text]) => [text, check(text)] as const);
}

describe('a DNS name', () => {
  test('has labels of lower-case letters, digits and inner hyphens', () => {
    expect(
      disagreements(dnsSubdomainMistake, [
        ['demo', undefined],
        ['a.b-c.0', undefined],
        ['a'.repeat(63), undefined],
        ['', 'is empty'],
        ['Demo', 'has upper-case letters'],
        ['dém', 'has a character that DNS names do not have'],
        ['a_b', 'has a character that DNS names do not have'],
        ['a..b', 'has an empty part between dots'],
        ['a.', 'has an empty part between dots'],
        ['-a', "has a part that begins with '-'"],
        ['a-.b', "has a part that ends with '-'"],
        ['a'.repeat(64), 'has a part of 64 characters, DNS allows 63'],
        ['a.'.repeat(127), 'has 254 characters, a DNS name at most 253'],
      ]),
    ).toEqual([]);
  });

  test('does not end like an address', () => {
    expect(['10.0.0.1', '1', 'a.5', 'a.5b', 'test'].filter(endsLikeAnAddress)).toEqual(['10.0.0.1', '1', 'a.5']);
  });
});

describe('a range', () => {
  test('is IPv4, canonical, and one that machines can have', () => {
    expect(
      disagreements(rangeMistake, [
        ['10.99.0.0/24', undefined],
        ['10.0.0.0/8', undefined],
        ['10.99.0.1/24', 'is not the first address of its range; that is 10.99.0.0/24'],
        ['10.99.0.0/024', 'is not the first address of its range; that is 10.99.0.0/24'],
        ['10.99.0.0', 'is not an IPv4 range'],
        ['10.99.0.0/33', 'is not an IPv4 range'],
        ['10.99/16', 'is not an IPv4 range'],
        ['0x0a.0.0.0/8', 'is not an IPv4 range'],
        ['010.0.0.0/8', 'is not an IPv4 range'],
        ['', 'is not an IPv4 range'],
        ['fd00::/48', 'is an IPv6 range; Firstlight clusters use IPv4'],
        ['127.0.0.0/8', 'holds addresses that no machine can have (loopback, link-local, multicast or reserved)'],
        ['0.0.0.0/0', 'holds addresses that no machine can have (loopback, link-local, multicast or reserved)'],
      ]),
    ).toEqual([]);
    expect(
      disagreements(addressMistake, [
        ['10.99.0.11', undefined],
        ['10.99.0', 'is not an IPv4 address'],
        ['010.99.0.1', 'is not an IPv4 address'],
        ['::1', 'is an IPv6 address; Firstlight clusters use IPv4'],
      ]),
    ).toEqual([]);
  });

  test('overlaps another when they share an address', () => {
    const overlapping = (a: string, b: string) => overlap(readRange(a), readRange(b));
    expect(overlapping('10.0.0.0/8', '10.255.255.0/24')).toBe(true);
    expect(overlapping('255.0.0.0/9', '255.128.0.0/9')).toBe(false);
    expect(overlapping('10.0.1.0/24', '10.0.0.0/24')).toBe(false);
  });
});

describe('runtime mappings', () => {
  test('are YAML of their kind, with at least one docker version per Kubernetes minor', () => {
    const head = 'kind: VersionManifestV1\n';
    expect(runtimeMappingsMistake(`${head}versions: {k8s: {1.10: {docker: [17.03, "1.12"]}}}\n`)).toBeUndefined();
    expect(runtimeMappingsMistake('a: [b')).toBe('is not YAML');
    expect(runtimeMappingsMistake('kind: Other\n')).toContain('is not a VersionManifestV1: kind');
    expect(runtimeMappingsMistake(`${head}versions: {k8s: {1.9: {docker: []}}}\n`)).toContain(
      'versions.k8s.1.9.docker',
    );
    expect(runtimeMappingsMistake(`${head}versions: {k8s: {latest: {docker: [a]}}}\n`)).toContain(
      'versions.k8s.latest',
    );
  });
});

describe('an SSH public key', () => {
  const ed25519 = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOh51+UGoKFDLzeV7kvGAbWOefHftCR/T4rAGya2WZ3e';

  test('is read to its last byte', () => {
    expect(
      disagreements(sshKeysMistake, [
        [ed25519, undefined],
        [`${ed25519} somebody with blanks\n\n# a comment\n${ed25519}`, undefined],
        [`restrict,command="echo \\"a b\\"" ${ed25519}`, undefined],
        ['', 'holds no key'],
        [ed25519.slice(0, -4), 'is cut off or damaged'],
        [`${ed25519}AAAA`, 'is cut off or damaged'],
        [`${ed25519}AAAAAA==`, 'has something after the key that does not belong to it'],
        [ed25519.replace('ssh-ed25519', 'ssh-rsa'), 'says ssh-rsa but holds another type of key'],
        [`${ed25519}\nssh-ed25519 AAAA`, 'key 2: is cut off or damaged'],
        ['ssh-ed25519', 'has the type ssh-ed25519 and no key after it'],
        ['ssh-ed25519 über', 'has a key that is not base64'],
        ['ssh-dss AAAA', 'is a DSA key, which OpenSSH no longer accepts'],
        ['ssh-ed25519-cert-v01@openssh.com AAAA', 'is a certificate; give the public key itself'],
        ['hello', 'does not begin with a type of SSH public key'],
        [
          '-----BEGIN OPENSSH PRIVATE KEY-----\nx',
          'is a private key; give the public one, from the file that ends in .pub',
        ],
      ]),
    ).toEqual([]);
  });

  test('lines are the keys alone', () => {
    expect(sshKeyLines(`# mine\r\n  ${ed25519}\r\n\r\n`)).toEqual([ed25519]);
  });
});

describe('credentials and the way out', () => {
  test('a pull secret is JSON with credentials for each registry', () => {
    expect(
      disagreements(pullSecretMistake, [
        ['{"auths":{"r.test":{"auth":"eA=="}}}', undefined],
        ['{"auths":{"r.test":{"credsStore":"pass"}}}', undefined],
        ['nope', 'is not JSON'],
        ['[]', 'has no map "auths" of registries, each with "auth"'],
        ['{"auths":{}}', 'names no registry under "auths"'],
        ['{"auths":{"r.test":{}}}', 'has neither "auth" nor "credsStore" for "r.test"'],
      ]),
    ).toEqual([]);
  });

  test('a proxy is a URL without a path', () => {
    expect(
      disagreements(
        (text) => proxyMistake(text, ['http:']),
        [
          ['http://proxy.test:3128', undefined],
          ['http://u:p@proxy.test:3128/', undefined],
          ['proxy.test', 'is not a URL'],
          ['https://proxy.test', 'must begin with http://'],
          ['HTTP://proxy.test', 'must begin with http://'],
          ['http:u:p@proxy.test', 'must begin with http://'],
          ['http://proxy.test\nX=y', 'has a blank or a control character'],
          [' http://proxy.test', 'has a blank or a control character'],
          ['http://proxy.test/path', 'has something after the host and port'],
        ],
      ),
    ).toEqual([]);
    expect(
      disagreements(noProxyMistake, [
        ['.a.test,10.0.0.0/8,10.0.0.1,b', undefined],
        ['a,,b', 'has an empty entry between commas'],
        ['a, b', 'has a blank in the entry " b"'],
        ['*.a.test', 'has a wildcard in "*.a.test"; a leading dot takes in everything below a domain'],
        ['a_b', 'has the entry "a_b", which is neither an address nor a range nor a domain'],
      ]),
    ).toEqual([]);
  });

  test('a trust bundle holds certificates and nothing secret', () => {
    expect(
      disagreements(trustBundleMistake, [
        [someAuthority, undefined],
        [`# one\n${someAuthority}\n# two\n${someAuthority}`, undefined],
        ['hello', 'holds no PEM certificate'],
        [someAuthority.replace('MIIB', 'MIIC'), 'has a block that is not a certificate: number 1 of 1'],
        [someAuthority + someAuthority.slice(0, 90), 'has a PEM block without its end'],
        ['-----BEGIN EC PRIVATE KEY-----\n', 'holds a private key; only certificates belong here'],
      ]),
    ).toEqual([]);
  });

  test('a repository has neither scheme nor tag nor digest', () => {
    expect(
      disagreements(repositoryMistake, [
        ['registry.test', undefined],
        ['registry.test:5000/a/b-c', undefined],
        ['https://registry.test', 'has a scheme; write it as host/path'],
        ['registry.test/a:latest', 'has a tag; name the repository alone'],
        ['registry.test/a@sha256:0', 'has a digest; name the repository alone'],
        ['registry.test:x/a', 'has a port that is not a number'],
        ['registry.test//a', 'has a path no registry allows'],
        ['Registry/a', 'does not begin with the name of a registry'],
      ]),
    ).toEqual([]);
  });
});
