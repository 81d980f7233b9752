// Writes every Secret again, so that it is encrypted by the first key. An empty patch is enough: kube-apiserver reads
// the Secret, sees that another key encrypted it, and stores it anew. No Secret travels to the workstation for that.
import { isError } from '../errors/firstlight-error.ts';
import type { Host } from '../host/host.ts';
import { apiPatience } from '../kubernetes/api-patience.ts';
import type { KubernetesClient } from '../kubernetes/client.ts';
import { kubernetesErrors } from '../kubernetes/errors.ts';
import { type KubernetesObject, referenceOf } from '../kubernetes/object.ts';
import { retry } from '../workflow/retry.ts';

/** Enough to hide the round trips, too few to be felt by others. */
const atATime = 4;

export interface RewriteSecrets {
  readonly client: KubernetesClient;
  readonly host: Host;
  readonly signal: AbortSignal;
  readonly onProgress: (done: number, all: number) => void;
}

/** How many there were. */
export async function rewriteSecrets({ client, host, signal, onProgress }: RewriteSecrets): Promise<number> {
  const patient = apiPatience({ host, signal });
  const { items } = await retry(patient, () =>
    client.list({ apiVersion: 'v1', kind: 'Secret' }, {}, { signal, isMetadataOnly: true }),
  );
  let done = 0;
  const left = items.values();
  const work = async (): Promise<void> => {
    for (const secret of left) {
      await retry(patient, () => rewrite(client, secret, signal));
      done += 1;
      onProgress(done, items.length);
    }
  };
  await Promise.all(Array.from({ length: atATime }, work));
  return items.length;
}

async function rewrite(client: KubernetesClient, secret: KubernetesObject, signal: AbortSignal): Promise<void> {
  try {
    await client.mergePatch(referenceOf(secret), {}, { signal });
  } catch (error) {
    // Deleted, or written by somebody else at the same moment, and so by the new key.
    if (isError(error, kubernetesErrors.NOT_FOUND) || isError(error, kubernetesErrors.CONFLICT)) return;
    throw error;
  }
}
