// The attempts and runs of a cluster, and the nodes that wait for one, as the API shows them now.
import {
  attemptKind,
  attemptSecretName,
  inPlaceAnnotations,
  inPlaceNamespace,
  readAttempt,
  scheduledValue,
  scheduleLabels,
} from '../../contract/in-place.ts';
import { type InPlaceRun, readInPlaceRun, runKind } from '../../contract/in-place-run.ts';
import { isError } from '../../errors/firstlight-error.ts';
import type { Host } from '../../host/host.ts';
import { type AttemptView, attemptView } from '../../in-place/attempt-view.ts';
import { apiPatience } from '../../kubernetes/api-patience.ts';
import type { KubernetesClient } from '../../kubernetes/client.ts';
import { kubernetesErrors } from '../../kubernetes/errors.ts';
import type { KubernetesObject } from '../../kubernetes/object.ts';
import { retry } from '../../workflow/retry.ts';
import { attemptErrors } from './errors.ts';

/** What a verb needs to ask the API about attempts. */
export interface AttemptCall {
  readonly host: Pick<Host, 'clock' | 'random'>;
  readonly client: KubernetesClient;
  readonly signal: AbortSignal;
}

export interface InPlaceView {
  readonly attempts: readonly AttemptView[];
  readonly runs: readonly InPlaceRun[];
  /** Nodes with the label and without an attempt that runs: why nothing happens there. */
  readonly waiting: readonly WaitingNode[];
}

export interface WaitingNode {
  readonly node: string;
  /** Completes "waits for …". */
  readonly waitsFor: string;
}

/** Throws NO_SUCH_KIND where the API knows no attempts. */
export async function observeAttempts(client: KubernetesClient, signal: AbortSignal): Promise<InPlaceView> {
  const call = { signal, deadlineMs: 5_000 };
  const secretKind = { apiVersion: 'v1', kind: 'Secret' } as const;
  const [attempts, runs, nodes, secrets] = await Promise.all([
    client.list(attemptKind, {}, call),
    client.list(runKind, {}, call),
    client.list({ apiVersion: 'v1', kind: 'Node' }, {}, call),
    client.list(secretKind, { namespace: inPlaceNamespace }, { ...call, isMetadataOnly: true }),
  ]);
  const views = attempts.items.flatMap((object) => readAttempt(object) ?? []).map(attemptView);
  return {
    attempts: views,
    runs: runs.items.flatMap((object) => readInPlaceRun(object) ?? []),
    waiting: waitingNodes({
      nodes: nodes.items,
      attempts: views,
      secrets: new Set(secrets.items.map(({ metadata }) => metadata.name)),
    }),
  };
}

/** For a verb that looks once: while masters reboot, the API may be away for a moment. */
export async function findAttempts({ host, client, signal }: AttemptCall): Promise<InPlaceView> {
  try {
    return await retry(apiPatience({ host, signal }), () => observeAttempts(client, signal));
  } catch (error) {
    if (isError(error, kubernetesErrors.NO_SUCH_KIND)) {
      throw attemptErrors.NOT_INSTALLED({ what: `the resource ${attemptKind.kind}` }, { cause: error });
    }
    throw error;
  }
}

export function runningRun(runs: readonly InPlaceRun[], pool: string): InPlaceRun | undefined {
  return runs.find(({ spec, status }) => spec.pool === pool && status.state === 'Running');
}

interface WaitingFacts {
  readonly nodes: readonly KubernetesObject[];
  readonly attempts: readonly AttemptView[];
  readonly secrets: ReadonlySet<string>;
}

export function waitingNodes({ nodes, attempts, secrets }: WaitingFacts): readonly WaitingNode[] {
  const running = new Set(attempts.filter(({ isEnded }) => !isEnded).map(({ node }) => node));
  return nodes
    .filter((node) => isScheduled(node) && !running.has(node.metadata.name))
    .map((node) => ({ node: node.metadata.name, waitsFor: waitOf(node, secrets) }));
}

function waitOf(node: KubernetesObject, secrets: ReadonlySet<string>): string {
  const { name, annotations } = node.metadata;
  const secret = attemptSecretName(name);
  if (!isCordoned(node)) return `the node to be cordoned: firstlight kubectl cordon ${name}`;
  if (!secrets.has(secret)) return `the Secret ${inPlaceNamespace}/${secret}: firstlight ipb prepare ${name}`;
  if (annotations?.[inPlaceAnnotations.status] !== undefined) {
    return `a Secret with a new attempt-id: firstlight ipb prepare ${name}`;
  }
  return 'the controller to begin';
}

export function isScheduled({ metadata }: KubernetesObject): boolean {
  return scheduleLabels.some((label) => metadata.labels?.[label] === scheduledValue);
}

export function isCordoned(node: KubernetesObject): boolean {
  return (node['spec'] as { readonly unschedulable?: boolean } | undefined)?.unschedulable === true;
}
