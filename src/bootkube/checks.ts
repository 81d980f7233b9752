// Checks that several stages share: the next stage must be able to read the output of a stage before it may start.
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import type { BootkubeContext } from './context.ts';
import { type RenderCheck, stageFolder } from './render-stage.ts';

type StageIdentity = { readonly number: number; readonly name: string };

interface KubernetesObject {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata?: { readonly name?: string };
  readonly spec?: {
    readonly containers?: readonly { readonly image?: string }[];
    readonly volumes?: readonly object[];
  };
}

export function parsesAsObjects(stage: StageIdentity): RenderCheck {
  return {
    name: 'every YAML file holds Kubernetes objects',
    run: async (context, outputs) => {
      for (const path of yamlPaths(outputs)) {
        for (const object of await readObjects(context, stage, path)) {
          if (typeof object === 'string') return `${path}: ${object}`;
          if (!object.apiVersion || !object.kind || !object.metadata?.name)
            return `${path}: an object without apiVersion, kind or name`;
        }
      }
      return undefined;
    },
  };
}

export function imagesAreInRelease(stage: StageIdentity): RenderCheck {
  return {
    name: 'every image is in the release',
    run: async (context, outputs) => {
      const known = new Set(context.release.images.flatMap(({ reference, tag }) => [reference, tag]));
      for (const path of yamlPaths(outputs)) {
        for (const object of await readObjects(context, stage, path)) {
          if (typeof object === 'string') continue;
          const strange = object.spec?.containers?.find(({ image }) => !known.has(image ?? ''));
          if (strange !== undefined) return `${path}: ${strange.image ?? 'no image'} is not in the release`;
        }
      }
      return undefined;
    },
  };
}

/** Since 1.34 the kubelet rejects a static pod that refers to API objects. These pods start before there is an API. */
export function podsNeedNoApi(stage: StageIdentity): RenderCheck {
  return {
    name: 'static pods refer to files of the host only',
    run: async (context, outputs) => {
      for (const path of yamlPaths(outputs)) {
        for (const object of await readObjects(context, stage, path)) {
          if (typeof object === 'string' || object.kind !== 'Pod') continue;
          if (object.spec?.volumes?.some((volume) => !('hostPath' in volume)))
            return `${path}: a volume that is not a host path`;
        }
      }
      return undefined;
    },
  };
}

function yamlPaths(outputs: Readonly<Record<string, string>>): readonly string[] {
  return Object.keys(outputs).filter((path) => /\.ya?ml$/.test(path));
}

async function readObjects(
  context: BootkubeContext,
  stage: StageIdentity,
  path: string,
): Promise<readonly (KubernetesObject | string)[]> {
  const text = await context.host.files.readText(join(context.folders.render, stageFolder(stage), path));
  const documents = parseAllDocuments(text, { version: '1.1' });
  if (!Array.isArray(documents)) return [];
  return documents.map((document) => document.errors[0]?.message ?? (document.toJS() as KubernetesObject));
}
