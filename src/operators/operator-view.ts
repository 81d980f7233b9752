// What a person is shown of the operators and of the release, from the objects that the version operator writes.
// `status`, `diagnose` and the commands that wait read the same values.
import { z } from 'zod';
import { conditionOf, hasCondition } from '../kubernetes/conditions.ts';
import type { KubernetesObject } from '../kubernetes/object.ts';

export interface OperatorView {
  readonly name: string;
  /** Of the release that it is of; null until it has reported one. */
  readonly version: string | null;
  readonly isAvailable: boolean;
  readonly isProgressing: boolean;
  readonly isDegraded: boolean;
  /** Why it is not well; while it is, what it says of itself. */
  readonly message: string;
}

export interface ReleaseView {
  /** That the cluster is to run; null until the version operator has looked. */
  readonly version: string | null;
  readonly image: string | null;
  readonly isAvailable: boolean;
  readonly isProgressing: boolean;
  readonly isFailing: boolean;
  /** What the version operator does or cannot do. */
  readonly message: string;
}

const operatorStatus = z.object({ versions: z.array(z.object({ name: z.string(), version: z.string() })).nullish() });

/** In order of name. */
export function viewOperators(objects: readonly KubernetesObject[]): readonly OperatorView[] {
  return objects.map(viewOperator).toSorted((one, other) => (one.name < other.name ? -1 : 1));
}

function viewOperator(object: KubernetesObject): OperatorView {
  const versions = operatorStatus.safeParse(object['status']).data?.versions ?? [];
  const isAvailable = hasCondition(object, 'Available');
  const isDegraded = hasCondition(object, 'Degraded');
  const said = conditionOf(object, isAvailable && isDegraded ? 'Degraded' : 'Available')?.message;
  return {
    name: object.metadata.name,
    version: versions.find(({ name }) => name === 'operator')?.version ?? null,
    isAvailable,
    isProgressing: hasCondition(object, 'Progressing'),
    isDegraded,
    message: said ?? 'it has not reported yet',
  };
}

export function isWell({ isAvailable, isDegraded }: OperatorView): boolean {
  return isAvailable && !isDegraded;
}

const versionStatus = z.object({ desired: z.object({ version: z.string(), image: z.string() }) });

export function viewRelease(clusterVersion: KubernetesObject): ReleaseView {
  const desired = versionStatus.safeParse(clusterVersion['status']).data?.desired;
  const isFailing = hasCondition(clusterVersion, 'Failing');
  return {
    version: desired?.version ?? null,
    image: desired?.image ?? null,
    isAvailable: hasCondition(clusterVersion, 'Available'),
    isProgressing: hasCondition(clusterVersion, 'Progressing'),
    isFailing,
    message:
      conditionOf(clusterVersion, isFailing ? 'Failing' : 'Progressing')?.message ??
      'the version operator has not looked at it yet',
  };
}
