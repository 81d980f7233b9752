// The status of a pool: counts, conditions with their messages, history. A pure function. A condition keeps its time
// until its status flips; `status.configuration` becomes the target at the moment when all nodes have it.
import type { PoolCondition, PoolConditionType, PoolStatus } from '../contract/machine-config-pool.ts';
import { apiVersion } from '../machine-config/machine-config.ts';
import { nextHistory } from './pool-history.ts';
import { isDegraded, isReady, isUnavailable, isUpdated, type RolloutNode } from './rollout-node.ts';

/** How a pool names the MachineConfigs that a rendered config is made of. */
export function sourceReferences(names: readonly string[]) {
  return names.map((name) => ({ apiVersion, kind: 'MachineConfig', name }));
}

export interface PoolFacts {
  readonly pool: string;
  readonly generation: number;
  readonly isPaused: boolean;
  readonly target: string;
  readonly sources: readonly string[];
  readonly nodes: readonly RolloutNode[];
  /** Why the MachineConfigs could not be rendered. */
  readonly renderProblem: string | undefined;
  /** Why no further node moves: each completes "waits for …". */
  readonly waitsFor: readonly string[];
  /** The nodes that no pool has because several select them. */
  readonly nodeProblems: readonly string[];
  readonly before: PoolStatus;
  readonly now: Date;
}

type Judgement = Pick<PoolCondition, 'status' | 'reason' | 'message'>;

export function poolStatus(facts: PoolFacts): PoolStatus {
  const { nodes, target, sources, before, now } = facts;
  const updated = nodes.filter((node) => isUpdated(node, target));
  const ready = updated.filter(isReady);
  const unavailable = nodes.filter(isUnavailable);
  const isDone =
    target !== '' && updated.length === nodes.length && ready.length === nodes.length && unavailable.length === 0;
  const judged = judgements(facts, { updated: updated.length, isDone });
  const time = now.toISOString();
  const configuration = isDone ? { name: target, source: sourceReferences(sources) } : before.configuration;
  return {
    observedGeneration: facts.generation,
    ...(configuration === undefined ? {} : { configuration }),
    machineCount: nodes.length,
    updatedMachineCount: updated.length,
    readyMachineCount: ready.length,
    unavailableMachineCount: unavailable.length,
    degradedMachineCount: nodes.filter(isDegraded).length,
    conditions: Object.entries(judged).map(([type, judgement]) => {
      const last = before.conditions.find((condition) => condition.type === type);
      const isSame = last?.status === judgement.status && last.lastTransitionTime !== undefined;
      return { type, ...judgement, lastTransitionTime: isSame ? (last.lastTransitionTime ?? time) : time };
    }),
    history: [...nextHistory(before.history, { target, sources, isDone, now })],
  };
}

interface Progress {
  readonly updated: number;
  readonly isDone: boolean;
}

function judgements(facts: PoolFacts, { updated, isDone }: Progress): Readonly<Record<PoolConditionType, Judgement>> {
  const { pool, target, nodes, renderProblem, isPaused } = facts;
  const degraded = nodes.filter(isDegraded);
  const render = renderProblem === undefined ? no() : yes('RenderFailed', renderText(pool, renderProblem));
  const node =
    degraded.length + facts.nodeProblems.length === 0 ? no() : yes(...nodeText(degraded, facts.nodeProblems));
  const isAnyDegraded = render.status === 'True' || node.status === 'True';
  const causes = [render, node].filter(({ status }) => status === 'True').map(({ message }) => message);
  return {
    RenderDegraded: render,
    NodeDegraded: node,
    Degraded: isAnyDegraded ? yes('', causes.join('; ')) : no(),
    Updated: isDone ? yes('', `All nodes are updated with ${target}`) : no(),
    Updating:
      isDone || target === ''
        ? no()
        : isPaused
          ? no('Paused', pausedText(facts))
          : yes('', updatingText(facts, updated)),
  };
}

function renderText(pool: string, problem: string): string {
  return `Failed to render configuration for pool ${pool}: ${problem}`;
}

function nodeText(degraded: readonly RolloutNode[], problems: readonly string[]): readonly [string, string] {
  const count = degraded.length;
  const said = degraded.map(({ name, reason }) => `Node ${name} is reporting: "${reason}"`);
  const title =
    count === 0 ? '' : `${count} ${count === 1 ? 'node is' : 'nodes are'} reporting degraded status on sync`;
  return [title, [...said, ...problems].join(', ')];
}

function pausedText({ target }: PoolFacts): string {
  return `Pool is paused; will not update to ${target}`;
}

function updatingText({ target, nodes, waitsFor }: PoolFacts, updated: number): string {
  const changing = nodes.filter((node) => node.desired === target && !isUpdated(node, target)).map(({ name }) => name);
  return [
    `${updated} of ${nodes.length} nodes have ${target}`,
    ...(changing.length === 0 ? [] : [`${changing.join(', ')} ${changing.length === 1 ? 'is' : 'are'} updating`]),
    ...waitsFor.map((what) => `waits for ${what}`),
  ].join('; ');
}

function yes(reason: string, message: string): Judgement {
  return { status: 'True', reason, message };
}

function no(reason = '', message = ''): Judgement {
  return { status: 'False', reason, message };
}
