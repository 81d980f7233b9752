// CustomResourceDefinitions, as far as order needs them: a kind can be used once the API says its definition is established.
import { conditionOf, hasCondition } from './conditions.ts';
import type { KubernetesObject } from './object.ts';

export const crdKind = { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition' } as const;

export function isCrd({ apiVersion, kind }: KubernetesObject): boolean {
  return apiVersion === crdKind.apiVersion && kind === crdKind.kind;
}

/** True, or what is missing. */
export function establishedOrWhy(crd: KubernetesObject): true | string {
  if (hasCondition(crd, 'Established')) return true;
  const accepted = conditionOf(crd, 'NamesAccepted');
  if (accepted?.status === 'False') return `its names are taken: ${accepted.message || 'no message'}`;
  return 'the API has not established it yet';
}

/** Whether `crd` defines the kind of `object`. */
export function defines(crd: KubernetesObject, object: KubernetesObject): boolean {
  const { group, names } = (crd['spec'] ?? {}) as { group?: unknown; names?: { kind?: unknown } };
  return names?.kind === object.kind && group === object.apiVersion.split('/')[0];
}
