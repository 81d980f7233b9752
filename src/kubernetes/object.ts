// Kubernetes objects as plain JSON, exactly as the API sends them: nothing is converted, nothing unknown is dropped.
// Typed views of single kinds live beside the code that reads them.
export interface ObjectMeta {
  readonly name: string;
  readonly namespace?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly creationTimestamp?: string;
  readonly deletionTimestamp?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly [field: string]: unknown;
}

export interface KubernetesObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ObjectMeta;
  readonly [field: string]: unknown;
}

/** A kind of object, by which the API knows where it keeps them. */
export interface ObjectKind {
  readonly apiVersion: string;
  readonly kind: string;
}

/** Names one object. The namespace is left out for kinds that have none. */
export interface ObjectReference extends ObjectKind {
  readonly name: string;
  readonly namespace?: string;
}

/** Versions of one object are numbers that grow (Kubernetes 1.35). */
export function objectVersion({ metadata }: KubernetesObject): bigint {
  return BigInt(metadata.resourceVersion ?? '0');
}

export function referenceOf({ apiVersion, kind, metadata }: KubernetesObject): ObjectReference {
  const { name, namespace } = metadata;
  return { apiVersion, kind, name, ...(namespace === undefined ? {} : { namespace }) };
}

/** For messages: `ConfigMap kube-system/bootstrap`. */
export function referenceText({ kind, name, namespace }: ObjectReference): string {
  return `${kind} ${namespace === undefined ? '' : `${namespace}/`}${name}`;
}
