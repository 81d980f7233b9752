// Which labelled nodes get an attempt now, and why the others do not: a pure function. An id is used once: a label that
// is set again does nothing until the Secret has another id.
import {
  type AttemptSpec,
  attemptName,
  attemptSecretName,
  type InPlaceAttempt,
  type InPlaceSystem,
  inPlaceNamespace,
  inPlaceSystems,
} from '../../contract/in-place.ts';
import { type InPlaceRun } from '../../contract/in-place-run.ts';
import type { KubernetesObject } from '../../kubernetes/object.ts';
import { isEnd } from '../phases.ts';
import type { InPlaceNode } from './in-place-node.ts';

/** What the controller reads of the Secret of a node; tokens and certificates are none of its business. */
export interface AttemptOrder {
  readonly node: string;
  readonly os: InPlaceSystem;
  readonly attemptId: string;
  /** Undefined where the Secret has none that can be read; preflight says so. */
  readonly notAfter: string | undefined;
}

const secretPrefix = attemptSecretName('');

/** Keeps nothing secret in memory. */
export function orderInBrief({ apiVersion, kind, metadata, data }: KubernetesObject): KubernetesObject {
  const { name, namespace = inPlaceNamespace, uid = '', resourceVersion = '' } = metadata;
  const given = (data ?? {}) as Readonly<Record<string, string>>;
  const text = (key: string): string =>
    Buffer.from(given[key] ?? '', 'base64')
      .toString('utf8')
      .trim();
  const read = { os: text('os'), attemptId: text('attempt-id'), notAfter: text('not-after') };
  return { apiVersion, kind, metadata: { name, namespace, uid, resourceVersion }, read };
}

/** Undefined where the Secret, as `orderInBrief` keeps it, names no system or no id. */
export function attemptOrder({ metadata, read }: KubernetesObject): AttemptOrder | undefined {
  const { os, attemptId, notAfter } = (read ?? {}) as Readonly<Record<string, string>>;
  const system = inPlaceSystems.find((each) => each === os);
  if (!metadata.name.startsWith(secretPrefix) || system === undefined) return undefined;
  if (attemptId === undefined || !/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(attemptId)) return undefined;
  const endMs = Date.parse(notAfter ?? '');
  const end = Number.isNaN(endMs) ? undefined : new Date(endMs).toISOString();
  return { node: metadata.name.slice(secretPrefix.length), os: system, attemptId, notAfter: end };
}

export interface NodesAndOrders {
  readonly nodes: readonly InPlaceNode[];
  readonly attempts: readonly InPlaceAttempt[];
  readonly orders: readonly AttemptOrder[];
  readonly runs: readonly InPlaceRun[];
  readonly clusterId: string;
  readonly now: Date;
}

export interface IgnoredLabel {
  readonly node: string;
  readonly why: string;
}

export interface NextAttempts {
  readonly create: readonly AttemptSpec[];
  /** Labels that start nothing now. */
  readonly ignored: readonly IgnoredLabel[];
}

export function nextAttempts(seen: NodesAndOrders): NextAttempts {
  const judged = seen.nodes.filter(({ isScheduled }) => isScheduled).map((node) => judge(node, seen));
  return {
    create: judged.flatMap((each) => ('spec' in each ? [each.spec] : [])),
    ignored: judged.flatMap((each) => ('why' in each ? [each] : [])),
  };
}

function judge(node: InPlaceNode, seen: NodesAndOrders): { readonly spec: AttemptSpec } | IgnoredLabel | object {
  const { name } = node;
  const ignored = (why: string): IgnoredLabel => ({ node: name, why });
  const running = seen.attempts.find(({ spec, status }) => spec.node === name && !isEnd(status.phase));
  if (running !== undefined) {
    const isAgain = running.status.cleared !== undefined;
    return isAgain ? ignored(`the label was set again while attempt ${running.spec.attemptId} runs`) : {};
  }
  const order = seen.orders.find((each) => each.node === name);
  if (order === undefined) {
    return ignored(`there is no Secret ${inPlaceNamespace}/${attemptSecretName(name)} with os and attempt-id`);
  }
  const { attemptId, os } = order;
  const used = seen.attempts.find((attempt) => attempt.name === attemptName(name, attemptId));
  if (used !== undefined) return used.status.phase === 'PreflightFailed' ? {} : ignored(usedText(used));
  if (!node.isCordoned) return ignored('the node is not cordoned');
  if (node.configState === 'Working') return ignored('its machine configuration changes now');
  const run = seen.runs.find(({ status }) =>
    status.nodes.some(({ attempt }) => attempt === attemptName(name, attemptId)),
  );
  const notAfter = order.notAfter ?? seen.now.toISOString();
  const spec = { node: name, attemptId, os, notAfter, clusterId: seen.clusterId, isAdoption: false };
  return { spec: run === undefined ? spec : { ...spec, run: run.name } };
}

function usedText({ spec: { attemptId }, status: { phase } }: InPlaceAttempt): string {
  return `attempt ${attemptId} has ended as ${phase}; a Secret with another attempt-id starts a new one`;
}

const keptPerNode = 10;

/** The names of attempts that nobody asks for any more: all but the newest of each node. */
export function staleAttempts(attempts: readonly InPlaceAttempt[]): readonly string[] {
  const ended = attempts.filter(({ status }) => isEnd(status.phase));
  return [...Map.groupBy(ended, ({ spec }) => spec.node).values()].flatMap((theirs) =>
    theirs
      .toSorted((one, other) => endedAt(other).localeCompare(endedAt(one)))
      .slice(keptPerNode)
      .map(({ name }) => name),
  );
}

function endedAt({ status }: InPlaceAttempt): string {
  return status.history.at(-1)?.at ?? '';
}
