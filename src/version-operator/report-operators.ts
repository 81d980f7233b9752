// Looks after the operators: for every one of the table whose capability is enabled, the Secrets that it needs are
// made and renewed, and what it wants to see is read, judged by its own pure function, and written into its
// ClusterOperator. What cannot be read says nothing: the last verdict stays until the next look.
import { isDeepStrictEqual } from 'node:util';
import {
  type CapabilityName,
  type ClusterOperatorStatus,
  clusterOperatorKind,
  type OperatorConditionType,
  type StatusCondition,
} from '../contract/cluster-version.ts';
import { FirstlightError, isError } from '../errors/firstlight-error.ts';
import type { Host } from '../host/host.ts';
import type { KubernetesClient } from '../kubernetes/client.ts';
import { kubernetesErrors } from '../kubernetes/errors.ts';
import type { KubernetesObject } from '../kubernetes/object.ts';
import { keepSecrets } from '../operators/keep-secrets.ts';
import type { Operator, OperatorHealth, Sighting, Verdict } from '../operators/operator.ts';
import type { PayloadValues } from '../operators/payload-values.ts';

export interface ReportOptions {
  readonly client: KubernetesClient;
  readonly host: Pick<Host, 'clock' | 'random'>;
  readonly operators: readonly Operator[];
  /** As they are now; undefined while nobody knows them. */
  readonly capabilities: () => readonly CapabilityName[] | undefined;
  /** Of this cluster; undefined while nobody knows them. */
  readonly values: () => PayloadValues | undefined;
  /** Of the release. */
  readonly version: string;
  readonly signal: AbortSignal;
  readonly mayAct: () => boolean;
  readonly log: (line: string) => void;
}

const everyMs = { trouble: 2_000, well: 10_000 } as const;

/** Ends only by throwing the reason of the signal. */
export async function reportOperators(options: ReportOptions): Promise<never> {
  const { host, signal } = options;
  const said = new Map<string, string>();
  /** The same trouble is said once, until it is over. */
  const onTrouble = (name: string, trouble: string): void => {
    if (trouble !== '' && said.get(name) !== trouble) options.log(`clusteroperator ${name}: ${trouble}`);
    said.set(name, trouble);
  };
  for (;;) {
    let isWell = false;
    try {
      isWell = await reportOnce({ ...options, onTrouble });
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof FirstlightError)) throw error;
      onTrouble('*', error.message);
    }
    await host.clock.sleep(isWell ? everyMs.well : everyMs.trouble, signal);
  }
}

/** True when every operator is as it should be. */
async function reportOnce(
  options: ReportOptions & { readonly onTrouble: (operator: string, trouble: string) => void },
): Promise<boolean> {
  const { operators, client, host, signal, version, mayAct, onTrouble } = options;
  const capabilities = options.capabilities();
  if (capabilities === undefined) return false;
  const { items } = await client.list(clusterOperatorKind, {}, { signal, keep: withoutManagers });
  const look = sharedLooks(client, signal);
  let isWell = true;
  // One after the other: a look costs a few calls, and nobody waits for it.
  for (const operator of operators) {
    if (operator.capability !== undefined && !capabilities.includes(operator.capability)) continue;
    try {
      await makeSecrets(options, operator);
      const health = await judged(operator, { look, version, capabilities, now: host.clock.now() });
      isWell &&= health.available.isSo && !health.progressing.isSo && !health.degraded.isSo;
      const live = items.find(({ metadata }) => metadata.name === operator.name);
      if (mayAct()) await writeHealth(options, { operator, health, live });
      onTrouble(operator.name, '');
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof FirstlightError)) throw error;
      isWell = false;
      onTrouble(operator.name, error.message);
    }
  }
  return isWell;
}

/** A certificate that needs a value of the cluster waits for it. */
async function makeSecrets(options: ReportOptions, operator: Operator): Promise<void> {
  const { client, host, signal, mayAct, log } = options;
  const values = options.values();
  if (values === undefined || !mayAct()) return;
  for (const line of await keepSecrets({ client, host, values, signal }, operator)) log(`${operator.name}: ${line}`);
}

type Look = (sighting: Sighting) => Promise<readonly KubernetesObject[]>;

/** Operators of the control plane look at the same nodes and pods: each look of a round is made once. */
function sharedLooks(client: KubernetesClient, signal: AbortSignal): Look {
  const looks = new Map<string, Promise<readonly KubernetesObject[]>>();
  return (sighting) => {
    const key = JSON.stringify(sighting);
    const known = looks.get(key) ?? lookAt(client, sighting, signal);
    looks.set(key, known);
    return known;
  };
}

async function lookAt(
  client: KubernetesClient,
  { apiVersion, kind, name, namespace, labelSelector }: Sighting,
  signal: AbortSignal,
): Promise<readonly KubernetesObject[]> {
  const place = namespace === undefined ? {} : { namespace };
  try {
    if (name !== undefined) {
      const found = await client.find({ apiVersion, kind, name, ...place }, { signal });
      return found === undefined ? [] : [found];
    }
    const selection = { ...place, ...(labelSelector === undefined ? {} : { labelSelector }) };
    return (await client.list({ apiVersion, kind }, selection, { signal, keep: withoutManagers })).items;
  } catch (error) {
    // Its definition comes with the release, perhaps a moment later.
    if (isError(error, kubernetesErrors.NO_SUCH_KIND) || isError(error, kubernetesErrors.NOT_FOUND)) return [];
    throw error;
  }
}

/** Half of many an object, and no operator reads it. */
function withoutManagers(object: KubernetesObject): KubernetesObject {
  const { managedFields: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}

interface JudgeFacts {
  readonly look: Look;
  readonly version: string;
  readonly capabilities: readonly CapabilityName[];
  readonly now: Date;
}

async function judged(operator: Operator, { look, ...facts }: JudgeFacts): Promise<OperatorHealth> {
  const byKind = new Map<string, readonly KubernetesObject[]>();
  for (const sighting of operator.looksAt) {
    const found = await look(sighting);
    byKind.set(sighting.kind, [...(byKind.get(sighting.kind) ?? []), ...found]);
  }
  return operator.judge({ ...facts, objects: (kind) => byKind.get(kind) ?? [] });
}

interface Judged {
  readonly operator: Operator;
  readonly health: OperatorHealth;
  readonly live: KubernetesObject | undefined;
}

async function writeHealth(
  { client, host, signal, log }: ReportOptions,
  { operator, health, live }: Judged,
): Promise<void> {
  const reference = { ...clusterOperatorKind, name: operator.name };
  if (live === undefined) await createOperator(client, operator.name, signal);
  const before = (live?.['status'] ?? {}) as Partial<ClusterOperatorStatus>;
  const status = operatorStatus(operator, health, { before, now: host.clock.now().toISOString() });
  if (isDeepStrictEqual(status, before)) return;
  await client.mergePatch(reference, { status }, { signal, subresource: 'status' });
  for (const line of changes(before, status)) log(`clusteroperator ${operator.name}: ${line}`);
}

/** A pass makes it too, perhaps at the same moment. */
async function createOperator(client: KubernetesClient, name: string, signal: AbortSignal): Promise<void> {
  try {
    await client.create({ ...clusterOperatorKind, metadata: { name }, spec: {} }, { signal });
  } catch (error) {
    if (!isError(error, kubernetesErrors.ALREADY_EXISTS)) throw error;
  }
}

/** A condition that stays as it is keeps its time. */
export function operatorStatus(
  { relatedObjects }: Pick<Operator, 'relatedObjects'>,
  { available, progressing, degraded, versions }: OperatorHealth,
  { before, now }: { readonly before: Partial<ClusterOperatorStatus>; readonly now: string },
): ClusterOperatorStatus {
  const condition = (
    type: OperatorConditionType,
    { isSo, reason, message }: Verdict,
  ): StatusCondition<OperatorConditionType> => {
    const status = isSo ? 'True' : 'False';
    const same = before.conditions?.find((each) => each.type === type && each.status === status);
    return { type, status, reason, message, lastTransitionTime: same?.lastTransitionTime ?? now };
  };
  return {
    conditions: [
      condition('Available', available),
      condition('Progressing', progressing),
      condition('Degraded', degraded),
    ],
    versions: Object.entries(versions).map(([name, version]) => ({ name, version })),
    // As the API gives it back, without fields that are undefined.
    relatedObjects: JSON.parse(JSON.stringify(relatedObjects)) as typeof relatedObjects,
  };
}

function changes(before: Partial<ClusterOperatorStatus>, { conditions }: ClusterOperatorStatus): readonly string[] {
  return conditions.flatMap(({ type, status, reason, message }) => {
    const last = before.conditions?.find((each) => each.type === type)?.status;
    return last === status ? [] : [`${type} is ${status} (${reason})${message === '' ? '' : `: ${message}`}`];
  });
}
