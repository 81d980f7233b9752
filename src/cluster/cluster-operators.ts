// The release and its operators as the API shows them, and what they lack for a cluster that is complete: the release
// is applied, and every operator is Available and not Degraded.
import { clusterOperatorKind, clusterVersionReference } from '../contract/cluster-version.ts';
import { type Missing, waitingFor } from '../contract/missing.ts';
import { isError } from '../errors/firstlight-error.ts';
import type { KubernetesClient } from '../kubernetes/client.ts';
import { kubernetesErrors } from '../kubernetes/errors.ts';
import { isWell, type OperatorView, type ReleaseView, viewOperators, viewRelease } from '../operators/operator-view.ts';

export interface ClusterOperators {
  /** Null while the API does not have it. */
  readonly release: ReleaseView | null;
  readonly operators: readonly OperatorView[];
}

export const noOperators: ClusterOperators = { release: null, operators: [] };

export async function listOperators(client: KubernetesClient, signal: AbortSignal): Promise<ClusterOperators> {
  const call = { signal, deadlineMs: 5_000 };
  try {
    const [version, { items }] = await Promise.all([
      client.find(clusterVersionReference, call),
      client.list(clusterOperatorKind, {}, call),
    ]);
    return { release: version === undefined ? null : viewRelease(version), operators: viewOperators(items) };
  } catch (error) {
    // The API of a cluster that is being made does not know all kinds yet.
    if (isError(error, kubernetesErrors.NO_SUCH_KIND)) return noOperators;
    throw error;
  }
}

/** The first line counts; the others name an operator each, or what the release as a whole lacks. */
export function operatorsMissing({ release, operators }: ClusterOperators): readonly Missing[] {
  if (release === null) return [waitingFor('the release', 'is not in the cluster yet')];
  if (operators.length === 0) {
    return [waitingFor('the version operator', 'has not reported on any operator yet', { detail: release.message })];
  }
  const unwell = operators.filter((operator) => !isWell(operator));
  const lacking = unwell.map(({ name, isAvailable, message }) => {
    const what = isAvailable ? 'is degraded' : 'is not available';
    return waitingFor(name, what, { detail: message });
  });
  if (lacking.length > 0) {
    return [
      waitingFor('operators', `${operators.length - unwell.length} of ${operators.length} available`),
      ...lacking,
    ];
  }
  if (release.isAvailable) return [];
  return [waitingFor('the release', 'is not applied', { detail: release.message })];
}
