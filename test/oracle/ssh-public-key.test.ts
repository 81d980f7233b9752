// ssh-keygen is the judge of what is a public key.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sshKeysMistake } from '../../src/install-config/ssh-public-key.ts';

const kinds: readonly (readonly [kind: string, bits: string | undefined])[] = [
  ['ed25519', undefined],
  ['rsa', '2048'],
  ['rsa', '4096'],
  ['ecdsa', '256'],
  ['ecdsa', '384'],
  ['ecdsa', '521'],
];
let folder = '';

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'firstlight-keys-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function makeKey(kind: string, bits: string | undefined): string {
  const file = join(folder, `${kind}-${bits ?? ''}`);
  const size = bits === undefined ? [] : ['-b', bits];
  execFileSync('ssh-keygen', ['-q', '-t', kind, ...size, '-N', '', '-C', 'some body', '-f', file]);
  return readFileSync(`${file}.pub`, 'utf8');
}

function sshKeygenAccepts(line: string): boolean {
  return spawnSync('ssh-keygen', ['-l', '-f', '-'], { input: line }).status === 0;
}

describe('ssh-keygen and we agree', () => {
  test.each(kinds)('on a fresh key: %s %s', (kind, bits) => {
    const line = makeKey(kind, bits);
    expect(sshKeygenAccepts(line)).toBe(true);
    expect(sshKeysMistake(line)).toBeUndefined();

    // Cut by whole groups of base64, so that the text stays valid and only the key does not.
    const [type = '', blob = ''] = line.split(' ');
    for (const length of [4, 20, 40, blob.length - 8]) {
      const cut = `${type} ${blob.slice(0, length - (length % 4))}\n`;
      expect(sshKeygenAccepts(cut)).toBe(false);
      expect(sshKeysMistake(cut)).toBeDefined();
    }
  });

  test('that a private key is none', () => {
    makeKey('ecdsa', undefined);
    expect(sshKeysMistake(readFileSync(join(folder, 'ecdsa-'), 'utf8'))).toContain('is a private key');
  });
});
