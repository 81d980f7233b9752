// The payload of a release: its manifests as tasks, in the order of their file names, and what the release says of
// itself. A manifest that cannot be read is a task that fails; the others stay usable.
import { join } from 'node:path';
import { z } from 'zod';
import { payloadFiles, releaseFiles } from '../contract/cluster-version.ts';
import type { Files } from '../host/files.ts';
import { jsonIfValid } from '../host/json-if-valid.ts';
import { reasonUnusable } from '../kubernetes/apply.ts';
import type { KubernetesObject } from '../kubernetes/object.ts';
import { readDocuments } from '../source-text/documents.ts';
import { mistakeText } from '../source-text/mistake.ts';
import { placeText } from '../source-text/place.ts';
import { digestOf, digestOfRecord } from '../workflow/digest.ts';
import { versionOperatorErrors } from './errors.ts';

interface TaskPlace {
  /** `0000_70_dns_01_deployment.yaml#2`: the file and the number of the document in it. */
  readonly source: string;
  readonly level: number;
  readonly component: string;
}

/** One object of the release, or a manifest that is none. */
export type PayloadTask = TaskPlace & ({ readonly object: KubernetesObject } | { readonly problem: string });

export interface Payload {
  readonly version: string;
  /** Name of an image → reference by digest. */
  readonly images: Readonly<Record<string, string>>;
  /** Over all manifests: two payloads with the same hash bring the same. */
  readonly versionHash: string;
  readonly tasks: readonly PayloadTask[];
}

const imagesSchema = z.object({
  kind: z.literal('ImageStream'),
  metadata: z.object({ name: z.string().min(1) }),
  spec: z.object({ tags: z.array(z.object({ name: z.string(), from: z.object({ name: z.string() }) })) }),
});
const metadataSchema = z.object({ kind: z.literal('cincinnati-metadata-v0'), version: z.string().min(1) });

/** `root` is the root of the release image. */
export async function readPayload(files: Files, root: string): Promise<Payload> {
  const folder = join(root, payloadFiles.folder);
  const names = await files.list(folder);
  if (names === undefined)
    throw versionOperatorErrors.PAYLOAD_INCOMPLETE({ folder: root, missing: payloadFiles.folder });
  const stream = await readJson(files, { folder, name: payloadFiles.images, schema: imagesSchema });
  const { version } = await readJson(files, { folder, name: payloadFiles.metadata, schema: metadataSchema });
  if (stream.metadata.name !== version) {
    throw versionOperatorErrors.PAYLOAD_VERSIONS({ folder, images: stream.metadata.name, metadata: version });
  }
  const tasks: PayloadTask[] = [];
  const digests: Record<string, string> = {};
  for (const name of names.filter(isManifest).sort()) {
    const text = await files.readText(join(folder, name));
    digests[name] = digestOf(text);
    tasks.push(...tasksOf(name, text));
  }
  return {
    version,
    images: Object.fromEntries(stream.spec.tags.map(({ name, from }) => [name, from.name])),
    versionHash: digestOfRecord(digests),
    tasks: inLevels(tasks),
  };
}

/** What a release says of itself lies in the same folder. */
function isManifest(name: string): boolean {
  return /\.(ya?ml|json)$/.test(name) && !Object.values<string>(releaseFiles).includes(name);
}

/** By run-level, and inside a level as given: a file without the prefix comes between others. */
export function inLevels(tasks: readonly PayloadTask[]): readonly PayloadTask[] {
  return tasks.toSorted((one, other) => one.level - other.level);
}

async function readJson<T extends z.ZodType>(
  files: Files,
  { folder, name, schema }: { readonly folder: string; readonly name: string; readonly schema: T },
): Promise<z.infer<T>> {
  const file = join(folder, name);
  const content = await files.readIfPresent(file);
  if (content === undefined) throw versionOperatorErrors.PAYLOAD_INCOMPLETE({ folder, missing: name });
  const read = schema.safeParse(jsonIfValid(content));
  if (read.success) return read.data;
  const issue = read.error.issues[0];
  const reason = `${issue?.path.join('.') || 'the document'}: ${issue?.message ?? 'not understood'}`;
  throw versionOperatorErrors.PAYLOAD_UNREADABLE({ file, reason });
}

function tasksOf(file: string, text: string): readonly PayloadTask[] {
  const place = placeOfFile(file);
  const { documents, mistakes } = readDocuments(file, text);
  const tasks = documents.map(({ value, placeOf }, at): PayloadTask => {
    const source = `${file}#${at + 1}`;
    const reason = reasonUnusable(value);
    if (reason !== undefined) return { source, ...place, problem: `${placeText(placeOf([]))}  ${reason}` };
    return { source, ...place, object: value as KubernetesObject };
  });
  const broken = mistakes.map((mistake): PayloadTask => ({ source: file, ...place, problem: mistakeText(mistake) }));
  return [...tasks, ...broken];
}

const levelPattern = /^0000_(\d+)_([a-zA-Z0-9]+(?:-[a-zA-Z0-9]+)*?)_/;
const levelOfUnordered = 50;

/** The run-level and the component that a file name says. */
function placeOfFile(file: string): { readonly level: number; readonly component: string } {
  const [, level, component] = levelPattern.exec(file) ?? [];
  if (level !== undefined && component !== undefined) return { level: Number(level), component };
  return { level: levelOfUnordered, component: file.replace(/\.[a-z]+$/, '') };
}
