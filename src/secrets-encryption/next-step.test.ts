import { expect, test } from 'vitest';
import { type EncryptionKeys, encryptionConfigurationText, encryptionDigest } from '../contract/secrets-encryption.ts';
import { type EncryptingMaster, nextRotationStep } from './next-step.ts';

const old = { name: 'key-20260101t000000z', secret: 'a'.repeat(43).concat('=') };
const added = { name: 'key-20260201t000000z', secret: 'b'.repeat(43).concat('=') };
const wanted = (keys: EncryptionKeys, rotatingTo?: string) => ({
  keys,
  text: encryptionConfigurationText(keys),
  rotatingTo,
  resourceVersion: '1',
});
const master = (name: string, keys: EncryptionKeys, isReady = true): EncryptingMaster => ({
  name,
  isReady,
  loaded: encryptionDigest(encryptionConfigurationText(keys)),
});
const all = (keys: EncryptionKeys) => ['master-0', 'master-1'].map((name) => master(name, keys));
const begins = { rotatingTo: undefined, isRewritten: false };

test.each([
  ['a rotation begins with a new key', wanted([old]), all([old]), begins, { kind: 'add' }],
  [
    'all can read it: it encrypts',
    wanted([old, added], added.name),
    all([old, added]),
    begins,
    { kind: 'promote', keys: [added, old] },
  ],
  [
    'it encrypts everywhere: Secrets are written again',
    wanted([added, old], added.name),
    all([added, old]),
    begins,
    { kind: 'rewrite' },
  ],
  [
    'they are: the old key goes',
    wanted([added, old], added.name),
    all([added, old]),
    { ...begins, isRewritten: true },
    { kind: 'drop', keys: [added] },
  ],
  ['it is gone everywhere: the end', wanted([added], added.name), all([added]), begins, { kind: 'finish' }],
  [
    'somebody else has ended it',
    wanted([added]),
    all([added]),
    { ...begins, rotatingTo: added.name },
    { kind: 'done' },
  ],
] as const)('%s', (_what, state, masters, memory, step) => {
  expect(nextRotationStep({ state, masters }, memory)).toMatchObject(step);
});

test('no step is done before every master has loaded the one before, and those that are missing are named', () => {
  const state = wanted([added, old], added.name);
  const masters = [
    master('master-0', [added, old]),
    master('master-1', [old, added]),
    master('master-2', [old], false),
  ];
  const step = nextRotationStep({ state, masters }, { ...begins, isRewritten: true });
  expect(step).toMatchObject({
    kind: 'wait',
    missing: [{ who: 'master-1' }, { who: 'master-2', detail: 'the node is not Ready' }],
  });
});

test('while nobody has published the keys, or no master is seen, nothing is changed', () => {
  expect(nextRotationStep({ state: undefined, masters: all([old]) }, begins)).toMatchObject({ kind: 'wait' });
  const state = wanted([old, added], added.name);
  expect(nextRotationStep({ state, masters: [] }, begins)).toMatchObject({ kind: 'wait' });
});
