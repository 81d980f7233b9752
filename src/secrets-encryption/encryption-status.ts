// How Secrets are encrypted now, for `secrets status`. A key is removed only when nothing is encrypted by it any more,
// so a single key means that it has encrypted every Secret.
import { encryptionDigest, madeAt } from '../contract/secrets-encryption.ts';
import type { KubernetesClient } from '../kubernetes/client.ts';
import { secretsEncryptionErrors } from './errors.ts';
import { observeEncryption } from './observe-encryption.ts';

export interface EncryptionStatus {
  readonly provider: 'secretbox';
  /** The key that encrypts comes first. */
  readonly keys: readonly { readonly name: string; readonly madeAt: string; readonly ageDays: number }[];
  readonly isRotating: boolean;
  /** Empty while no key is being replaced: masters report only then. */
  readonly masters: readonly { readonly name: string; readonly isReady: boolean; readonly isUpToDate: boolean }[];
}

const dayMs = 86_400_000;

export async function encryptionStatus(
  client: KubernetesClient,
  { now, signal }: { readonly now: Date; readonly signal: AbortSignal },
): Promise<EncryptionStatus> {
  const { state, masters } = await observeEncryption(client, { signal });
  if (state === undefined) throw secretsEncryptionErrors.NOT_PUBLISHED({ server: client.server });
  const { keys, text, rotatingTo } = state;
  const digest = encryptionDigest(text);
  return {
    provider: 'secretbox',
    keys: keys.map((key) => {
      const made = madeAt(key);
      const ageDays = Math.max(0, Math.floor((now.getTime() - made.getTime()) / dayMs));
      return { name: key.name, madeAt: made.toISOString(), ageDays };
    }),
    isRotating: rotatingTo !== undefined,
    masters:
      rotatingTo === undefined
        ? []
        : masters.map(({ name, isReady, loaded }) => ({ name, isReady, isUpToDate: loaded === digest })),
  };
}
