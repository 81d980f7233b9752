// Pools and their nodes in words: the tables of `machine-config status` and `history`, the frame of verbs that wait.
import type { NodeView } from '../../pool-rollout/node-view.ts';
import { type PoolView, updatedCount } from '../../pool-rollout/pool-view.ts';
import { type FrameStep, type FrameView, seconds } from '../../screen/frame.ts';
import { alignColumns } from '../frame/columns.ts';

/** `rendered-worker-0123abcd…`: eight of its 32 digits tell two configurations apart; -o json has all of them. */
export function shortConfig(name: string | null): string {
  return name === null ? '-' : shortNames(name);
}

function shortNames(text: string): string {
  return text.replaceAll(/\b(rendered-[a-z0-9.-]+-[0-9a-f]{8})[0-9a-f]{24}\b/g, '$1…');
}

export function poolsText(pools: readonly PoolView[]): string {
  const rows = pools.map((pool) => [
    pool.name,
    pool.isPaused && pool.state !== 'paused' ? `${pool.state}, paused` : pool.state,
    `${updatedCount(pool)} of ${pool.nodes.length}`,
    wayText(pool),
  ]);
  const nodes = pools.flatMap((pool) =>
    pool.nodes.map((node) => [node.name, pool.name, node.phase, wayText(node), waitText(node)]),
  );
  const notes = pools.flatMap(noteLines);
  return [
    alignColumns([['POOL', 'STATE', 'UPDATED', 'CONFIGURATION'], ...rows]),
    ...(nodes.length === 0
      ? []
      : ['\n', alignColumns([['NODE', 'POOL', 'PHASE', 'FROM → TO', 'WAITS FOR'], ...nodes])]),
    ...(notes.length === 0 ? [] : ['\n', ...notes.map((note) => `${note}\n`)]),
  ].join('');
}

/** Where both are the same, there is no way to go. */
function wayText({ from, to }: Pick<PoolView, 'from' | 'to'>): string {
  return from === to || from === null ? shortConfig(to) : `${shortConfig(from)} → ${shortConfig(to)}`;
}

function waitText({ waitsFor, reason }: NodeView): string {
  return shortNames(reason ?? waitsFor ?? '');
}

function noteLines({ name, renderProblem, rollback, isPaused, nodes }: PoolView): readonly string[] {
  const failed = nodes.filter(({ reason }) => reason !== null);
  return [
    ...(renderProblem === null ? [] : [`${name} cannot be rendered, and none of its nodes moves: ${renderProblem}`]),
    ...(rollback === null ? [] : [`${name} was rolled back from ${shortConfig(rollback.insteadOf)}`]),
    ...(isPaused ? [`${name} is paused; firstlight machine-config resume ${name} lets its nodes go on`] : []),
    ...(failed.some(({ from, to }) => from !== to)
      ? [`${name} stops at a degraded node; firstlight machine-config rollback ${name} brings it back`]
      : []),
    ...failed
      .filter(({ from, to }) => from === to)
      .map(
        (node) => `${node.name} is not as its configuration says; put it back, or let ${name} have driftPolicy: Revert`,
      ),
  ];
}

export function historyText(pools: readonly PoolView[]): string {
  const rows = pools.flatMap(({ name, to, history }) =>
    history.map(({ name: config, startedAt, completedAt, sources, state }, index) => [
      name,
      `${shortConfig(config)}${config === to && index === 0 ? ' *' : ''}`,
      startedAt.replace(/\.\d+Z$/, 'Z'),
      completedAt === undefined ? '-' : seconds(Date.parse(completedAt) - Date.parse(startedAt)),
      state,
      sourcesText(sources, history[index + 1]?.sources),
    ]),
  );
  if (rows.length === 0) return 'no configuration has been rolled out yet\n';
  return alignColumns([['POOL', 'CONFIGURATION', 'BEGAN', 'TOOK', 'STATE', 'MACHINECONFIGS'], ...rows]);
}

/** What came and went; the first entry, and one whose sources were only edited, say how many there are. */
function sourcesText(sources: readonly string[], before: readonly string[] | undefined): string {
  const came = sources.filter((name) => before?.includes(name) === false).map((name) => `+${name}`);
  const went = (before ?? []).filter((name) => !sources.includes(name)).map((name) => `-${name}`);
  return [...came, ...went].join(' ') || `${sources.length}`;
}

/** A line per pool, when a roll-out is over. */
export function rolledOutText(pools: readonly PoolView[], elapsedMs: number): string {
  const lines = pools.map((pool) =>
    pool.state === 'paused'
      ? `${pool.name}: is paused; its nodes change when it is resumed\n`
      : `${pool.name}: ${updatedCount(pool)} of ${pool.nodes.length} have ${shortConfig(pool.to)}\n`,
  );
  return `${lines.join('')}${seconds(elapsedMs)}\n`;
}

export interface RollOutFrame {
  readonly title: string;
  readonly elapsedMs: number;
  readonly likely: string | undefined;
  /** Pools that have not got their target yet, although their nodes have the one before. */
  readonly waiting: ReadonlySet<string>;
}

/** A step per pool, a detail per node that is not where it is to be. */
export function rollOutFrame(pools: readonly PoolView[], frame: RollOutFrame): FrameView {
  const { title, elapsedMs, likely, waiting } = frame;
  const steps = pools.map((pool) => poolStep(pool, waiting.has(pool.name)));
  return { title, elapsedMs, steps, members: [], ...(likely === undefined ? {} : { likely }) };
}

function poolStep(pool: PoolView, isWaiting: boolean): FrameStep {
  if (isWaiting) return { name: pool.name, state: 'running', note: 'waits for its target', details: [] };
  const moving = pool.nodes.filter(({ phase }) => phase !== 'done' && phase !== 'queued');
  return {
    name: pool.name,
    state: stepStates[pool.state],
    note: `${updatedCount(pool)} of ${pool.nodes.length} have ${shortConfig(pool.to)}`,
    details: moving.map((node) => ({ name: node.name, text: nodeText(node), key: `${node.phase} ${waitKey(node)}` })),
  };
}

const stepStates: Readonly<Record<PoolView['state'], FrameStep['state']>> = {
  updated: 'done',
  updating: 'running',
  paused: 'waiting',
  degraded: 'running',
  'not rendered': 'running',
};

function nodeText(node: NodeView): string {
  const wait = node.reason ?? (node.waitsFor === null ? '' : `waits for ${node.waitsFor}`);
  return wait === '' ? node.phase : `${node.phase}: ${shortNames(wait)}`;
}

/** A drain names other pods at every look: on a pipe it is repeated only when a budget is in its way. */
function waitKey({ phase, reason, waitsFor, drain }: NodeView): string {
  if (phase === 'draining') return drain?.blocked.map(({ pod }) => pod).join(' ') ?? '';
  return reason ?? waitsFor ?? '';
}
