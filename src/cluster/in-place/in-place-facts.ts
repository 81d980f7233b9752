// The facts of the cluster that every attempt needs, from the ConfigMap that is deployed with the bootstrapper.
import {
  type InPlaceFacts,
  inPlaceFactsConfigMap,
  inPlaceFactsSchema,
  inPlaceNamespace,
} from '../../contract/in-place.ts';
import { jsonIfValid } from '../../host/json-if-valid.ts';
import { apiPatience } from '../../kubernetes/api-patience.ts';
import { retry } from '../../workflow/retry.ts';
import { attemptErrors } from './errors.ts';
import type { AttemptCall } from './observe-attempts.ts';

export async function findInPlaceFacts({ host, client, signal }: AttemptCall): Promise<InPlaceFacts> {
  const { name, key } = inPlaceFactsConfigMap;
  const reference = { apiVersion: 'v1', kind: 'ConfigMap', namespace: inPlaceNamespace, name };
  const found = await retry(apiPatience({ host, signal }), () => client.find(reference, { signal }));
  const text = (found?.['data'] as Readonly<Record<string, string>> | undefined)?.[key];
  const facts = inPlaceFactsSchema.safeParse(jsonIfValid(text ?? '')).data;
  if (facts === undefined) throw attemptErrors.NOT_INSTALLED({ what: `ConfigMap ${inPlaceNamespace}/${name}` });
  return facts;
}
