// Checks that several stages share: the next stage must be able to read the output of a stage before it may start.
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import type { BootkubeContext } from './context.ts';
import { type StageCheck, stageFolder } from './render-stage.ts';
import { rendererOf } from './who-renders.ts';

type StageIdentity = { readonly number: number; readonly name: string };

interface PodSpec {
  readonly containers?: readonly { readonly image?: string }[];
  readonly initContainers?: readonly { readonly image?: string }[];
  readonly volumes?: readonly object[];
}

interface RenderedObject {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata?: { readonly name?: string };
  readonly spec?: PodSpec & { readonly template?: { readonly spec?: PodSpec } };
}

export function parsesAsObjects(stage: StageIdentity): StageCheck {
  return {
    name: 'every YAML file holds Kubernetes objects',
    run: async (context, outputs) => {
      for (const path of yamlPaths(outputs)) {
        for (const object of await objectsIn(context, stage, path)) {
          if (typeof object === 'string') return `${path}: ${object}`;
          if (!object?.apiVersion || !object.kind || !object.metadata?.name)
            return `${path}: an object without apiVersion, kind or name`;
        }
      }
      return undefined;
    },
  };
}

export function imagesAreInRelease(stage: StageIdentity): StageCheck {
  return {
    name: 'every image is in the release',
    run: async (context, outputs) => {
      const known = new Set(context.release.images.flatMap(({ reference, tag }) => [reference, tag]));
      for (const path of yamlPaths(outputs)) {
        for (const object of await objectsIn(context, stage, path)) {
          const strange = containersOf(object).find(({ image }) => !known.has(image ?? ''));
          if (strange !== undefined) return `${path}: ${strange.image ?? 'no image'} is not in the release`;
        }
      }
      return undefined;
    },
  };
}

/** Of a pod, and of what makes pods from a template. */
function containersOf(object: RenderedObject | string): readonly { readonly image?: string }[] {
  if (typeof object === 'string') return [];
  const specs = [object.spec, object.spec?.template?.spec];
  return specs.flatMap((spec) => [...(spec?.initContainers ?? []), ...(spec?.containers ?? [])]);
}

/** Since 1.34 the kubelet rejects a static pod that refers to API objects. These pods start before there is an API. */
export function podsNeedNoApi(stage: StageIdentity): StageCheck {
  return {
    name: 'static pods refer to files of the host only',
    run: async (context, outputs) => {
      for (const path of yamlPaths(outputs)) {
        for (const object of await objectsIn(context, stage, path)) {
          if (typeof object === 'string' || object.kind !== 'Pod') continue;
          if (object.spec?.volumes?.some((volume) => !('hostPath' in volume)))
            return `${path}: a volume that is not a host path`;
        }
      }
      return undefined;
    },
  };
}

interface Definition {
  readonly metadata?: { readonly name?: string };
  readonly spec?: {
    readonly group?: string;
    readonly names?: { readonly plural?: string };
    readonly versions?: readonly { readonly served?: boolean; readonly schema?: object }[];
  };
}

/** The API accepts a definition without these and then serves nothing. */
export function definitionsAreUsable(stage: StageIdentity): StageCheck {
  return {
    name: 'every definition of a kind has its full name and a schema that is served',
    run: async (context, outputs) => {
      for (const path of yamlPaths(outputs)) {
        for (const object of await objectsIn(context, stage, path)) {
          if (typeof object === 'string' || object.kind !== 'CustomResourceDefinition') continue;
          const { metadata, spec } = object as unknown as Definition;
          if (metadata?.name !== `${spec?.names?.plural}.${spec?.group}`)
            return `${path}: ${metadata?.name} is misnamed`;
          const isServed = spec?.versions?.some(({ served, schema }) => served === true && schema !== undefined);
          if (isServed !== true) return `${path}: no version of ${metadata.name} is served with a schema`;
        }
      }
      return undefined;
    },
  };
}

/** For a stage that says why our own image has nothing to render; another image has. */
export function ownRendersNothing(variable: string): StageCheck {
  return {
    name: 'what was rendered comes from an image of the release; our own has nothing to render',
    run: async (context, outputs) => {
      const [path] = Object.keys(outputs);
      if (path === undefined || rendererOf(context, variable).kind === 'image') return undefined;
      return `${path}: who wrote it is not known`;
    },
  };
}

function yamlPaths(outputs: Readonly<Record<string, string>>): readonly string[] {
  return Object.keys(outputs).filter((path) => /\.ya?ml$/.test(path));
}

/** The objects of a file of a stage; for a document that cannot be read, what is wrong with it. */
async function objectsIn(
  context: BootkubeContext,
  stage: StageIdentity,
  path: string,
): Promise<readonly (RenderedObject | string)[]> {
  const documents = parseAllDocuments(await readRendered(context, stage, path), { version: '1.1' });
  if (!Array.isArray(documents)) return [];
  return documents.map((document) => document.errors[0]?.message ?? (document.toJS() as RenderedObject));
}

export function readRendered({ host, folders }: BootkubeContext, stage: StageIdentity, path: string): Promise<string> {
  return host.files.readText(join(folders.render, stageFolder(stage), path));
}
