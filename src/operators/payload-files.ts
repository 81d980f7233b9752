// The payload of a release: what it brings into a cluster, as files in the order in which they are applied. It is a
// pure function of the table of operators and of the images: the release image and the bootstrap machine have the same
// bytes.
import { type CapabilityName, payloadAnnotations, payloadFiles } from '../contract/cluster-version.ts';
import type { KubernetesObject } from '../kubernetes/object.ts';
import { toYamlDocuments } from '../kubernetes/yaml.ts';
import type { ImageReference, ManifestFile, Operator } from './operator.ts';

/** The run-level from which on something runs; what is below is kinds, namespaces and rights. */
export const firstRunningLevel = 10;

export interface ReleaseImage {
  readonly name: string;
  /** By digest. */
  readonly reference: string;
}

export interface ReleasePayload {
  readonly version: string;
  readonly images: readonly ReleaseImage[];
  /** The version operator comes first. */
  readonly operators: readonly PayloadOperator[];
}

/** What of an operator decides its files. */
export type PayloadOperator = Pick<Operator, 'name' | 'level' | 'capability' | 'images' | 'manifests'>;

export interface PayloadFile {
  readonly name: string;
  readonly level: number;
  readonly operator: string;
  readonly capability?: CapabilityName;
  readonly objects: readonly KubernetesObject[];
}

/** An operator whose images are not all in the release is left out: a release of a few parts has nothing to run. */
export function payloadManifests({ images, operators }: ReleasePayload): readonly PayloadFile[] {
  const references = new Map(images.map(({ name, reference }) => [name, reference]));
  const image: ImageReference = (name) => {
    const reference = references.get(name);
    if (reference === undefined) throw new Error(`the release has no image ${name}`);
    return reference;
  };
  const brought = operators.filter((operator) => operator.images.every((name) => references.has(name)));
  return brought
    .flatMap((operator) => operator.manifests(image).map((file) => payloadFile(operator, file)))
    .toSorted((one, other) => (one.name < other.name ? -1 : 1));
}

function payloadFile(operator: PayloadOperator, file: ManifestFile): PayloadFile {
  const level = file.level ?? operator.level;
  const name = `0000_${String(level).padStart(2, '0')}_${operator.name}_${file.name}.yaml`;
  const { capability } = operator;
  return {
    name,
    level,
    operator: operator.name,
    ...(capability === undefined ? {} : { capability }),
    objects: file.objects.map((object) => annotated(object, operator)),
  };
}

function annotated(object: KubernetesObject, { capability }: PayloadOperator): KubernetesObject {
  const annotations = {
    [payloadAnnotations.include]: 'true',
    ...(capability === undefined ? {} : { [payloadAnnotations.capability]: capability }),
    ...object.metadata.annotations,
  };
  const { name, namespace, ...rest } = object.metadata;
  const place = namespace === undefined ? {} : { namespace };
  return { ...object, metadata: { name, ...place, ...rest, annotations } };
}

/** Every file of the payload with its text, by its path in the release image. */
export function payloadTexts(request: ReleasePayload): Readonly<Record<string, string>> {
  const manifests = payloadManifests(request).map(({ name, objects }) => [name, toYamlDocuments(objects)] as const);
  const texts = [
    ...manifests,
    [payloadFiles.images, jsonText(imageReferences(request))] as const,
    [payloadFiles.metadata, jsonText(releaseMetadata(request))] as const,
  ];
  return Object.fromEntries(texts.map(([name, text]) => [`${payloadFiles.folder}/${name}`, text]));
}

/** As tools for such releases read it: its name is the version, one tag per image. */
function imageReferences({ version, images }: ReleasePayload): object {
  const tags = images
    .toSorted((one, other) => (one.name < other.name ? -1 : 1))
    .map(({ name, reference }) => ({ name, from: { kind: 'DockerImage', name: reference } }));
  return { kind: 'ImageStream', apiVersion: 'image.openshift.io/v1', metadata: { name: version }, spec: { tags } };
}

/** `previous`: releases from which one may change to this one. Nobody has said any yet. */
function releaseMetadata({ version }: ReleasePayload): object {
  return { kind: 'cincinnati-metadata-v0', version, previous: [], next: [], metadata: {} };
}

function jsonText(value: object): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
