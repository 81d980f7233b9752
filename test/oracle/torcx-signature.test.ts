// Every verdict about a signature, ours beside gpgv's. Where we are stricter on purpose, the test says so.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readKeyring, verifyDetached } from '../../src/torcx/openpgp-signature.ts';
import { type Gnupg, openGnupg, past, type Verdict } from './torcx/gnupg.ts';

let gnupg: Gnupg;
const content = '{"kind":"torcx-package-list-v0"}';
beforeAll(() => {
  gnupg = openGnupg();
});
afterAll(() => gnupg[Symbol.dispose]());

interface Case {
  readonly signature: string;
  readonly keys: readonly string[];
  readonly content?: string;
  readonly isStrictAboutKeyExpiry?: boolean;
}

async function ours({ signature, keys, ...rest }: Case): Promise<string> {
  try {
    const keyring = await readKeyring(Buffer.from(gnupg.exportArmored(...keys)));
    const signer = await verifyDetached({
      content: Buffer.from(rest.content ?? content),
      signature: Buffer.from(signature),
      keyring,
      now: new Date(),
      isStrictAboutKeyExpiry: rest.isStrictAboutKeyExpiry ?? false,
    });
    return ['good', ...signer.warnings].join('; ');
  } catch (error) {
    return `bad: ${(error as Error).message}`;
  }
}

function theirs(
  { signature, keys, content: other }: Case,
  flags: readonly string[] = [],
): Verdict & { isGood: boolean } {
  const verdict = gnupg.judge(other ?? content, signature, keys, flags);
  const isRevoked = verdict.status.some((line) => line.startsWith('REVKEYSIG'));
  const isValid = verdict.status.some((line) => line.startsWith('VALIDSIG'));
  return { ...verdict, isGood: verdict.code === 0 && isValid && !isRevoked };
}

async function bothSay(verdict: 'good' | 'bad', given: Case, flags?: readonly string[]): Promise<string> {
  const judged = theirs(given, flags);
  const said = await ours(given);
  expect({ gpgv: judged.isGood ? 'good' : 'bad', ours: said.split(/[:;]/)[0] }).toEqual({
    gpgv: verdict,
    ours: verdict,
  });
  return said;
}

describe('gpgv and we, with leave for keys that expired later, agree', () => {
  test('on a good signature, on altered content and on an altered signature', async () => {
    const key = gnupg.makeKey('plain', { algorithm: 'rsa2048' });
    const signature = gnupg.sign(key, content);
    expect(await bothSay('good', { signature, keys: [key] })).toBe('good');
    expect(await bothSay('bad', { signature, keys: [key], content: content.replace('v0', 'v1') })).toMatch(/digest/);
    expect(await bothSay('bad', { signature, keys: [key], content: `${content}\n` })).toMatch(/digest/);
  });

  test('on a key that is not in the ring, and on one of several that is', async () => {
    const [mine, other] = [gnupg.makeKey('mine'), gnupg.makeKey('other')];
    const signature = gnupg.sign(other, content);
    expect(await bothSay('bad', { signature, keys: [mine] })).toMatch(/is not in the keyring/);
    expect(await bothSay('good', { signature, keys: [mine, other] })).toBe('good');
  });

  test('on a key that expired after it signed', async () => {
    const key = gnupg.makeKey('late', { at: '20180101T000000', life: '1y' });
    const signature = gnupg.sign(key, content, past('20180601T000000'));
    expect(await bothSay('good', { signature, keys: [key] })).toMatch(/expired on 2019-01-01, after it signed/);
  });

  test('on a key whose life was extended after it signed, expired again or not', async () => {
    for (const life of ['2y', '30y']) {
      const key = gnupg.makeKey(`extended${life}`, { at: '20180101T000000', life: '1y' });
      const signature = gnupg.sign(key, content, past('20180601T000000'));
      gnupg.run([...past('20181001T000000'), '--quick-set-expire', key, life]);
      const said = await bothSay('good', { signature, keys: [key] });
      expect(said.includes('expired')).toBe(life === '2y');
    }
  });

  test('on a signing subkey, alive or expired after it signed', async () => {
    for (const life of ['1y', 'never']) {
      const key = gnupg.makeKey(`primary${life}`, { at: '20180101T000000' });
      gnupg.run([...past('20180102T000000'), '--quick-add-key', key, 'ed25519', 'sign', life]);
      const signature = gnupg.sign(key, content, past('20180601T000000'));
      const said = await bothSay('good', { signature, keys: [key] });
      expect(said.includes('expired on 2019-01-02')).toBe(life === '1y');
    }
  });

  test.each([
    ['without a reason', '0'],
    ['as compromised', '1'],
    ['as superseded', '2'],
  ])('on a key that is revoked %s, even after it signed', async (_case, reason) => {
    const key = gnupg.makeKey(`revoked${reason}`);
    const signature = gnupg.sign(key, content);
    const answers = `y\n${reason}\n\ny\n`;
    const certificate = gnupg.run(['--no-batch', '--command-fd', '0', '--gen-revoke', key], answers);
    gnupg.run(['--import'], certificate);
    expect(await bothSay('bad', { signature, keys: [key] })).toMatch(/is revoked/);
  });

  test('on MD5', async () => {
    const key = gnupg.makeKey('weak', { algorithm: 'rsa2048' });
    const signature = gnupg.sign(key, content, ['--digest-algo', 'MD5', '--allow-weak-digest-algos']);
    expect(await bothSay('bad', { signature, keys: [key] })).toMatch(/MD5/i);
  });

  test('on a signature that has expired itself', async () => {
    const key = gnupg.makeKey('short', { at: '20180101T000000' });
    const signature = gnupg.sign(key, content, [...past('20180601T000000'), '--default-sig-expire', '1d']);
    expect(await bothSay('bad', { signature, keys: [key] })).toMatch(/signature itself expired/);
  });

  test('on a signature from the future, as long as a node’s clock may be wrong', async () => {
    const key = gnupg.makeKey('ahead');
    const signature = gnupg.sign(key, content, past('20380101T000000'));
    expect(await bothSay('good', { signature, keys: [key] })).toMatch(/in the future/);
  });

  test('on garbage and on nothing', async () => {
    const key = gnupg.makeKey('silent');
    const good = gnupg.sign(key, content);
    const cut = good.replace(/\n[A-Za-z0-9+/]{10}/, '\nAAAAAAAAAA');
    for (const signature of ['', 'hello', cut]) {
      expect(await bothSay('bad', { signature, keys: [key] })).toMatch(/^bad/);
    }
  });

  test('on a list signed by a stranger first and by a known key second', async () => {
    const [known, stranger] = [gnupg.makeKey('second'), gnupg.makeKey('first')];
    const signature = gnupg.sign(known, content, ['--local-user', stranger]);
    expect(await ours({ signature, keys: [known] })).toBe('good');
    expect(theirs({ signature, keys: [known] }).status.filter((line) => line.startsWith('VALIDSIG'))).toHaveLength(1);
  });
});

describe('we are stricter than gpgv by default', () => {
  test('about a key that expired after it signed, of which gpgv only tells', async () => {
    const key = gnupg.makeKey('over', { at: '20180101T000000', life: '1y' });
    const signature = gnupg.sign(key, content, past('20180601T000000'));
    expect(theirs({ signature, keys: [key] }).status.join('\n')).toMatch(/^EXPKEYSIG/m);
    expect(await ours({ signature, keys: [key], isStrictAboutKeyExpiry: true })).toMatch(/^bad: key .* expired/);
  });

  test('about SHA-1, which gpgv refuses only when told to', async () => {
    const key = gnupg.makeKey('sha1', { algorithm: 'rsa2048' });
    const signature = gnupg.sign(key, content, ['--digest-algo', 'SHA1']);
    expect(theirs({ signature, keys: [key] }).isGood).toBe(true);
    expect(await bothSay('bad', { signature, keys: [key] }, ['--weak-digest', 'SHA1'])).toMatch(/SHA1/);
  });

  test('about a key that signed after it had expired', async () => {
    const key = gnupg.makeKey('ghost', { at: '20180101T000000', life: '5y' });
    const signature = gnupg.sign(key, content, past('20200101T000000'));
    gnupg.run([...past('20180201T000000'), '--quick-set-expire', key, '1y']);
    const judged = theirs({ signature, keys: [key] });
    expect(judged).toMatchObject({ isGood: true });
    expect(judged.status.join('\n')).toMatch(/^EXPKEYSIG/m);
    expect(await ours({ signature, keys: [key] })).toMatch(/^bad: .*expired/);
  });
});

test('a ring of several armored blocks is read, blocks that are broken are counted, a ring without keys is refused', async () => {
  const [a, b] = [gnupg.makeKey('ring-a'), gnupg.makeKey('ring-b')];
  const broken = gnupg.exportArmored(a).replace(/\n[A-Za-z0-9+/]{60}/, '\n');
  const text = `${gnupg.exportArmored(a)}\n${gnupg.exportArmored(b)}\n${broken}`;
  expect(await readKeyring(Buffer.from(text))).toMatchObject({ keys: { length: 2 }, unreadable: 1 });
  await expect(readKeyring(Buffer.from('nothing'))).rejects.toThrow(/no usable public key/);
});
