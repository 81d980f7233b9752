// An operator as a value: what the release brings for it, what it looks at in the cluster, and how it judges that.
// The version operator applies the manifests and writes the verdict into a ClusterOperator; `judge` is a pure function.
import type { CapabilityName, RelatedObject } from '../contract/cluster-version.ts';
import type { KubernetesObject, ObjectKind } from '../kubernetes/object.ts';
import type { MadeSecrets } from './made-secrets.ts';

/** The images of the release: name → reference by digest. An unknown name is a mistake of the caller. */
export type ImageReference = (image: string) => string;

/** A file of the payload. */
export interface ManifestFile {
  /** The last part of its name: `0000_<level>_<operator>_<name>.yaml`. */
  readonly name: string;
  /** Where it is not that of the operator: kinds and rights come below 10. */
  readonly level?: number;
  readonly objects: readonly KubernetesObject[];
}

/** What `judge` wants to see: all objects of a kind, of one namespace, with a label, or one by name. */
export interface Sighting extends ObjectKind {
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly name?: string;
}

export interface OperatorSight {
  /** The version of the release that the version operator runs. */
  readonly version: string;
  readonly capabilities: readonly CapabilityName[];
  readonly now: Date;
  /** What was found for each sighting, by its kind. */
  readonly objects: (kind: string) => readonly KubernetesObject[];
}

/** True or false with the reason (one word in CamelCase) and a sentence that names the cause. */
export interface Verdict {
  readonly isSo: boolean;
  readonly reason: string;
  readonly message: string;
}

export interface OperatorHealth {
  readonly available: Verdict;
  readonly progressing: Verdict;
  readonly degraded: Verdict;
  /** `operator` is the version of the release; operands by their own names. */
  readonly versions: Readonly<Record<string, string>>;
}

export interface Operator extends MadeSecrets {
  /** Of the ClusterOperator. */
  readonly name: string;
  readonly why: string;
  /** The run-level of its files, 0 to 99. */
  readonly level: number;
  /** Without one it is always there. */
  readonly capability?: CapabilityName;
  /** Names of the images of the release that its pods run. */
  readonly images: readonly string[];
  readonly manifests: (image: ImageReference) => readonly ManifestFile[];
  readonly looksAt: readonly Sighting[];
  readonly judge: (seen: OperatorSight) => OperatorHealth;
  readonly relatedObjects: readonly RelatedObject[];
}
