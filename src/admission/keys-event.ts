// The Event that the signers were given to a machine. Tokens are deleted when their machine has joined, so this is what
// an administrator finds afterwards: to whom, at which address, for which token.
import { systemNamespace } from '../contract/cluster-objects.ts';
import { isError } from '../errors/firstlight-error.ts';
import type { ApiCallOptions, KubernetesClient } from '../kubernetes/client.ts';
import { kubernetesErrors } from '../kubernetes/errors.ts';

export interface KeysAnnouncement {
  readonly tokenId: string;
  readonly at: Date;
  readonly machine?: string;
  readonly address?: string;
}

/** One per token: a repeated request of the same machine makes no second one. */
export async function announceKeysGiven(
  client: KubernetesClient,
  { tokenId, at, machine, address }: KeysAnnouncement,
  options: ApiCallOptions = {},
): Promise<void> {
  const time = at.toISOString();
  const who = machine ?? 'a master';
  const where = address === undefined ? 'at an address that is not known' : `at ${address}`;
  const event = {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name: `master-keys-given.${tokenId}`, namespace: systemNamespace },
    involvedObject: {
      apiVersion: 'v1',
      kind: 'Secret',
      namespace: systemNamespace,
      name: `bootstrap-token-${tokenId}`,
    },
    type: 'Normal',
    reason: 'MasterKeysGiven',
    message: `The keys of a master were given to ${who} ${where}, for token ${tokenId}.`,
    source: { component: 'firstlight-config-server' },
    firstTimestamp: time,
    lastTimestamp: time,
    count: 1,
  };
  try {
    await client.create(event, options);
  } catch (error) {
    if (!isError(error, kubernetesErrors.ALREADY_EXISTS)) throw error;
  }
}
