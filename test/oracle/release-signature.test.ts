// gpg and gpgv judge our OpenPGP signatures, and we judge gpg's.
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { currentRelease } from '../../src/release/current.ts';
import { signaturePath, signCurrentRelease } from '../../src/release/release-signature.ts';
import { verifyRelease } from '../../src/release/verify-release.ts';
import { type Fixture, releaseFixture } from './release-fixture.ts';

let fixture: Fixture;
beforeAll(async () => {
  fixture = await releaseFixture(['pause']);
  await fixture.build('cache');
  makeKey('alice', '');
  makeKey('mallory', '');
  makeKey('locked', 'open sesame');
}, 300_000);
afterAll(() => fixture[Symbol.asyncDispose]());

const home = (name: string): string => join(fixture.folder, `gpg-${name}`);
const gpg = (name: string, ...args: readonly string[]): Buffer =>
  execFileSync('gpg', ['--homedir', home(name), '--batch', '--quiet', '--pinentry-mode', 'loopback', ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });

function makeKey(name: string, passphrase: string): void {
  mkdirSync(home(name), { mode: 0o700 });
  gpg(
    name,
    '--passphrase',
    passphrase,
    '--quick-generate-key',
    `${name} <${name}@firstlight.test>`,
    'ed25519',
    'sign',
    '1d',
  );
  writeFileSync(secret(name), gpg(name, '--passphrase', passphrase, '--armor', '--export-secret-keys'));
  writeFileSync(open(name), gpg(name, '--export'));
  execFileSync('gpgconf', ['--homedir', home(name), '--kill', 'all']);
}
const secret = (name: string): string => join(fixture.folder, `${name}.key`);
const open = (name: string): string => join(fixture.folder, `${name}.pub`);
const verify = (key: string) =>
  verifyRelease(fixture.host('cache'), { keyPath: open(key), report: () => {}, signal: new AbortController().signal });

async function manifestBlob(): Promise<{ readonly path: string; readonly signature: string }> {
  const { release, digest, cache } = await currentRelease(fixture.host('cache'));
  return { path: join(release.content, 'blobs/sha256', digest), signature: signaturePath(cache.folder, digest) };
}

test('an unsigned release is refused when a key is given', async () => {
  await expect(verify('alice')).rejects.toMatchObject({ code: 'RELEASE_SIGNATURE_MISSING' });
});

test('gpgv accepts our signature over the manifest, and so do we', async () => {
  const signature = await signCurrentRelease(fixture.host('cache'), secret('alice'));
  const { path } = await manifestBlob();
  execFileSync('gpgv', ['--keyring', open('alice'), signature, path], { stdio: 'pipe' });
  await expect(verify('alice')).resolves.toMatchObject({
    signer: { fingerprint: expect.stringMatching(/^[0-9a-f]{40}$/) },
  });
});

test('the signature of somebody else is refused', async () => {
  await signCurrentRelease(fixture.host('cache'), secret('mallory'));
  await expect(verify('alice')).rejects.toMatchObject({ code: 'RELEASE_SIGNATURE_WRONG' });
});

test("gpg's own signature is accepted, and refused over another manifest", async () => {
  const { path, signature } = await manifestBlob();
  mkdirSync(dirname(signature), { recursive: true });
  writeFileSync(signature, gpg('alice', '--detach-sign', '--output', '-', path));
  await expect(verify('alice')).resolves.toBeDefined();
  const other = join(fixture.folder, 'other');
  writeFileSync(other, 'another manifest');
  writeFileSync(signature, gpg('alice', '--detach-sign', '--output', '-', other));
  await expect(verify('alice')).rejects.toMatchObject({ code: 'RELEASE_SIGNATURE_WRONG' });
  execFileSync('gpgconf', ['--homedir', home('alice'), '--kill', 'all']);
});

test('a signature cut short, or no signature at all, is refused', async () => {
  const { signature } = await manifestBlob();
  writeFileSync(signature, 'not a signature');
  await expect(verify('alice')).rejects.toMatchObject({ code: 'RELEASE_SIGNATURE_WRONG' });
});

test('a locked key needs its passphrase, which is asked from the environment', async () => {
  const host = fixture.host('cache');
  await expect(signCurrentRelease(host, secret('locked'))).rejects.toMatchObject({ code: 'RELEASE_KEY_UNREADABLE' });
  const variables = { ...host.environment.variables, FIRSTLIGHT_SIGN_PASSPHRASE: 'open sesame' };
  await signCurrentRelease({ ...host, environment: { ...host.environment, variables } }, secret('locked'));
  await expect(verify('locked')).resolves.toBeDefined();
});
