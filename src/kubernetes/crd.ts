// CustomResourceDefinitions, as far as order needs them: a kind can be used once the API says its definition is established.
import type { KubernetesObject } from './object.ts';

export const crdKind = { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition' } as const;

export function isCrd({ apiVersion, kind }: KubernetesObject): boolean {
  return apiVersion === crdKind.apiVersion && kind === crdKind.kind;
}

interface Condition {
  readonly type?: string;
  readonly status?: string;
  readonly message?: string;
}

/** True, or what is missing. */
export function establishedOrWhy(crd: KubernetesObject): true | string {
  // Go writes a list that nobody has filled yet as null.
  const { conditions } = (crd['status'] ?? {}) as { conditions?: readonly Condition[] | null };
  const of = (type: string): Condition | undefined => conditions?.find((condition) => condition.type === type);
  if (of('Established')?.status === 'True') return true;
  const refused = of('NamesAccepted');
  if (refused?.status === 'False') return `its names are taken: ${refused.message ?? 'no message'}`;
  return 'the API has not established it yet';
}

/** Whether `crd` defines the kind of `object`. */
export function defines(crd: KubernetesObject, object: KubernetesObject): boolean {
  const { group, names } = (crd['spec'] ?? {}) as { group?: unknown; names?: { kind?: unknown } };
  return names?.kind === object.kind && group === object.apiVersion.split('/')[0];
}
