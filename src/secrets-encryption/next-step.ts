// The next step of a rotation, from what is observed alone, so that a killed command continues where it stopped. The
// order keeps every Secret readable on every master at any moment: a key encrypts only when all masters can read it,
// and goes only when nothing is encrypted by it.
import { type Missing, waitingFor } from '../contract/missing.ts';
import { type EncryptionKey, type EncryptionKeys, encryptionDigest } from '../contract/secrets-encryption.ts';
import type { EncryptionState } from './encryption-state.ts';

export interface EncryptingMaster {
  readonly name: string;
  readonly isReady: boolean;
  /** The digest of the key list that its kube-apiserver has loaded, as its agent reported. */
  readonly loaded: string | undefined;
}

export interface ObservedEncryption {
  /** Undefined while no master has published the keys. */
  readonly state: EncryptionState | undefined;
  readonly masters: readonly EncryptingMaster[];
}

export type RotationStep =
  /** No rotation is under way: put a new key beside the present one. */
  | { readonly kind: 'add'; readonly state: EncryptionState }
  | { readonly kind: 'wait'; readonly missing: readonly Missing[] }
  /** Every master can read the new key: put it first, so that it encrypts. */
  | { readonly kind: 'promote'; readonly state: EncryptionState; readonly keys: EncryptionKeys }
  /** Every master encrypts by the new key: write every Secret again. */
  | { readonly kind: 'rewrite'; readonly state: EncryptionState }
  /** Nothing is encrypted by the other keys any more. */
  | { readonly kind: 'drop'; readonly state: EncryptionState; readonly keys: EncryptionKeys }
  /** Every master has the new key alone. */
  | { readonly kind: 'finish'; readonly state: EncryptionState }
  | { readonly kind: 'done'; readonly state: EncryptionState };

/** What a command knows of its own work. */
export interface RotationMemory {
  /** The new key of the rotation that it has begun or continued. */
  readonly rotatingTo: string | undefined;
  /** It has written every Secret again since all masters encrypt by the new key. */
  readonly isRewritten: boolean;
}

export function nextRotationStep(
  { state, masters }: ObservedEncryption,
  { rotatingTo: ownKey, isRewritten }: RotationMemory,
): RotationStep {
  if (state === undefined) return { kind: 'wait', missing: [waitingFor('a master', 'to publish the keys it has')] };
  const { keys, text, rotatingTo } = state;
  if (rotatingTo === undefined && keys[0].name === ownKey) return { kind: 'done', state };
  const added = keys.find(({ name }) => name === rotatingTo);
  if (added === undefined) return { kind: 'add', state };
  const missing = mastersBehind(masters, encryptionDigest(text));
  if (missing.length > 0) return { kind: 'wait', missing };
  if (keys[0] !== added) return { kind: 'promote', state, keys: [added, ...others(keys, added)] };
  if (keys.length === 1) return { kind: 'finish', state };
  return isRewritten ? { kind: 'drop', state, keys: [added] } : { kind: 'rewrite', state };
}

function others(keys: EncryptionKeys, key: EncryptionKey): readonly EncryptionKey[] {
  return keys.filter((one) => one !== key);
}

function mastersBehind(masters: readonly EncryptingMaster[], digest: string): readonly Missing[] {
  if (masters.length === 0) return [waitingFor('a master', 'to be a node')];
  return masters
    .filter(({ loaded }) => loaded !== digest)
    .map(({ name, isReady }) =>
      waitingFor(name, 'to load the list of keys', isReady ? {} : { detail: 'the node is not Ready' }),
    );
}
