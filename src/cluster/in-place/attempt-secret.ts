// The Secret of a node, and how it is written. The machine gets it through the progress API; nobody else
// can read it but administrators, the controller and the config servers of masters.
import { type AttemptSecret, attemptSecretName, inPlaceNamespace, systemLabel } from '../../contract/in-place.ts';
import type { KubernetesClient } from '../../kubernetes/client.ts';
import type { ObjectReference } from '../../kubernetes/object.ts';

function secretReference(node: string): ObjectReference {
  return { apiVersion: 'v1', kind: 'Secret', namespace: inPlaceNamespace, name: attemptSecretName(node) };
}

/** Written as a whole: a key of the attempt before does not stay. */
export async function writeAttemptSecret(
  client: KubernetesClient,
  { node, secret }: { readonly node: string; readonly secret: AttemptSecret },
  signal: AbortSignal,
): Promise<void> {
  const { apiVersion, kind, name, namespace = inPlaceNamespace } = secretReference(node);
  const before = await client.find(secretReference(node), { signal });
  const version = before?.metadata.resourceVersion;
  const object = {
    apiVersion,
    kind,
    metadata: {
      name,
      namespace,
      labels: { [systemLabel]: secret.os ?? '' },
      ...(version === undefined ? {} : { resourceVersion: version }),
    },
    type: 'Opaque',
    data: Object.fromEntries(
      Object.entries(secret).map(([key, value]) => [key, Buffer.from(value).toString('base64')]),
    ),
  };
  await (before === undefined ? client.create(object, { signal }) : client.replace(object, { signal }));
}
