// What a release brings into a cluster: the version operator first, then every operator of the table whose images the
// release has. The release image and bootkube make the payload from here, so that both have the same.
import { versionOperator } from '../contract/cluster-version.ts';
import { operators } from '../operators/operators.ts';
import {
  type PayloadOperator,
  payloadManifests,
  type ReleaseImage,
  type ReleasePayload,
} from '../operators/payload-files.ts';
import { versionOperatorFiles } from '../version-operator/operator-manifests.ts';

const versionOperatorRow: PayloadOperator & { readonly why: string } = {
  name: versionOperator.name,
  why: 'Applies everything that the release brings, keeps it so, and says how the operators are.',
  level: 0,
  images: ['firstlight'],
  manifests: versionOperatorFiles,
};

const rows = [versionOperatorRow, ...operators];

export function releasePayload(release: {
  readonly version: string;
  readonly images: readonly ReleaseImage[];
}): ReleasePayload {
  const { version } = release;
  const images = release.images.map(({ name, reference }) => ({ name, reference }));
  return { version, images, operators: rows };
}

/** One row for people: an operator, with the files that the release brings for it. */
export interface OperatorSummary {
  readonly name: string;
  readonly level: number;
  readonly capability?: string;
  readonly why: string;
  readonly images: readonly string[];
  readonly files: readonly string[];
}

/** In the order in which they are applied. */
export function operatorSummaries(payload: ReleasePayload): readonly OperatorSummary[] {
  const files = payloadManifests(payload);
  const known = new Set(payload.images.map(({ name }) => name));
  return rows
    .filter(({ images }) => images.every((image) => known.has(image)))
    .map(({ name, level, why, images, ...row }) => ({
      name,
      level,
      ...('capability' in row && row.capability !== undefined ? { capability: row.capability } : {}),
      why,
      images,
      files: files.filter(({ operator }) => operator === name).map((file) => file.name),
    }));
}
