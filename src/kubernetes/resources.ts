// The paths of the API for a kind of object. The server is asked once per group and version, and again when a kind is
// missing, because a CustomResourceDefinition may have been established since.
import { z } from 'zod';
import type { ObjectKind } from './object.ts';

export interface ApiResource {
  /** As in paths: `configmaps`. */
  readonly plural: string;
  readonly isNamespaced: boolean;
  /** Whether its status is written through a path of its own. */
  readonly hasStatus: boolean;
}

const resourceList = z.object({
  resources: z.array(z.object({ name: z.string(), kind: z.string(), namespaced: z.boolean() })),
});

/** kind → resource, from an APIResourceList. */
export function readResources(answer: unknown): ReadonlyMap<string, ApiResource> {
  const { resources } = resourceList.parse(answer);
  const names = new Set(resources.map(({ name }) => name));
  return new Map(
    resources
      .filter(({ name }) => !name.includes('/'))
      .map(({ name, kind, namespaced }) => [
        kind,
        { plural: name, isNamespaced: namespaced, hasStatus: names.has(`${name}/status`) },
      ]),
  );
}

/** `/api/v1`, `/apis/apps/v1`. */
export function groupPath({ apiVersion }: Pick<ObjectKind, 'apiVersion'>): string {
  return `${apiVersion.includes('/') ? '/apis' : '/api'}/${apiVersion.split('/').map(encodeURIComponent).join('/')}`;
}

export interface ObjectPath {
  readonly namespace?: string | undefined;
  readonly name?: string;
  readonly subresource?: string;
}

export function resourcePath(kind: ObjectKind, resource: ApiResource, path: ObjectPath): string {
  const isNamespaced = resource.isNamespaced && path.namespace !== undefined;
  const parts = [
    ...(isNamespaced ? ['namespaces', path.namespace ?? ''] : []),
    resource.plural,
    ...(path.name === undefined ? [] : [path.name]),
  ].map(encodeURIComponent);
  return [groupPath(kind), ...parts, ...(path.subresource === undefined ? [] : [path.subresource])].join('/');
}
