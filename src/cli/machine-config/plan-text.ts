// What will happen, in words: for `machine-config apply` and `rollback`, before they ask.
import type { ApplyPlan } from '../../cluster/pools/plan-apply.ts';
import type { PlannedPool } from '../../cluster/pools/roll-out-plan.ts';
import { actionText } from '../../machine-config/disruption.ts';
import { alignColumns } from '../frame/columns.ts';
import { changeRows } from './diff.ts';
import { shortConfig } from './pool-text.ts';

const signs = { added: '+', changed: '~', unchanged: ' ' } as const;

export function planText({ objects, pools, warnings }: ApplyPlan): string {
  const rows = objects.map(({ object: { kind, metadata }, change }) => [signs[change], kind, metadata.name, change]);
  const isIdle = pools.length === 0;
  return [
    alignColumns(rows, '  '),
    ...pools.map((pool) => `\n${poolPlanText(pool)}`),
    ...(isIdle ? ['\nno machine changes by this\n'] : []),
    ...(warnings.length === 0 ? [] : ['\n', ...warnings.map((warning) => `note: ${warning}\n`)]),
  ].join('');
}

export function poolPlanText(plan: PlannedPool): string {
  const { pool, from, to, difference, held, obstacles } = plan;
  const way = from === null ? shortConfig(to) : `${shortConfig(from)} → ${shortConfig(to)}`;
  const facts = [
    ...(plan.order.length === 0 && !plan.isPaused ? [] : [['on each', eachText(plan)]]),
    ['order', orderText(plan)],
    ...held.map(({ node, reason }) => ['stays', `${node}, until ${reason}`]),
    ...obstacles.map((obstacle) => ['in the way', obstacle]),
    ['time', timeText(plan)],
  ];
  return `${pool}   ${way}\n${alignColumns(changeRows(difference.changes), '  ')}${alignColumns(facts, '  ')}`;
}

function eachText({ difference: { actions, needsReboot, needsDrain } }: PlannedPool): string {
  if (needsReboot) return 'cordoned, drained, changed, rebooted once';
  const texts = actions.filter(({ kind }) => kind !== 'drain').map((action) => actionText(action));
  const acted = texts.length === 0 ? 'nothing else to do' : texts.join(', then ');
  return `${needsDrain ? 'cordoned, drained, changed' : 'changed while its pods run'}; ${acted}; no reboot`;
}

function orderText({ order, held, isPaused, pool }: PlannedPool): string {
  if (isPaused) return `none: ${pool} is paused, and its machines change when it is resumed`;
  if (order.length === 0)
    return held.length === 0 ? 'none: no machine has to change' : 'none: no machine can change now';
  return order.map((step) => step.join(' and ')).join(', then ');
}

function timeText({ seconds, difference, obstacles }: PlannedPool): string {
  if (seconds === undefined) return 'none now';
  const { least, most } = seconds;
  const span = least === most ? duration(least) : `${duration(least)} to ${duration(most)}`;
  const pods = difference.needsDrain ? '; the longer, the longer its pods take to end' : '';
  const blocked = obstacles.length === 0 ? '' : '; and as long as a budget is in the way';
  return `${span}${pods}${blocked}`;
}

/** `40 s`, `3 min`. */
function duration(seconds: number): string {
  return seconds < 120 ? `${seconds} s` : `${Math.round(seconds / 60)} min`;
}
