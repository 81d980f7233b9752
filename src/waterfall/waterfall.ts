// From the moments of a run to the rows of its waterfall. Pure; what was not recorded has no row.
import { bootstrapLanes, type Lane, masterLanes, type Point, workerLanes } from './lanes.ts';
import { commandName, loadBalancerName, type RunMoment, type RunRecord } from './run-record.ts';
import type { Waterfall, WaterfallGroup, WaterfallRow } from './waterfall-rows.ts';

export function waterfallOf(record: RunRecord, title: string): Waterfall {
  const moments = record.moments.toSorted((a, b) => a.atMs - b.atMs);
  const own = moments.filter(({ machine }) => machine === commandName);
  const startMs = (own[0] ?? moments[0])?.atMs ?? 0;
  const isOver = own.some(({ step, state }) => step === 'nodes' && state === 'done');
  const endMs = (isOver ? own : moments).at(-1)?.atMs ?? startMs;
  // A worker that was added later, and what machines did after the run, do not belong to this run.
  const ofRun = moments
    .filter(({ atMs }) => atMs >= startMs && atMs <= endMs)
    .map((moment) => ({ ...moment, atMs: moment.atMs - startMs }));
  const groups = [
    { name: commandName, rows: stepRows(ofRun.filter(({ machine }) => machine === commandName)) },
    ...machineGroups(ofRun),
    { name: loadBalancerName, rows: backendRows(ofRun.filter(({ machine }) => machine === loadBalancerName)) },
  ];
  return {
    title,
    startedAt: new Date(startMs).toISOString(),
    totalMs: endMs - startMs,
    groups: groups.filter(({ rows }) => rows.length > 0),
  };
}

function machineGroups(moments: readonly RunMoment[]): readonly WaterfallGroup[] {
  const names = [...new Set(moments.map(({ machine }) => machine))]
    .filter((name) => name !== commandName && name !== loadBalancerName)
    .toSorted();
  return names.map((name) => {
    const own = moments.filter(({ machine }) => machine === name);
    return { name, rows: lanesOf(own).flatMap((lane) => laneRow(lane, own)) };
  });
}

/** The role of a machine follows from its moments: only one machine runs bootkube, only masters have keys. */
function lanesOf(moments: readonly RunMoment[]): readonly Lane[] {
  if (moments.some(({ by }) => by === 'bootkube')) return bootstrapLanes;
  return moments.some(({ by, step }) => by === 'agent' && step === 'keys') ? masterLanes : workerLanes;
}

function laneRow({ label, kind, from, to }: Lane, moments: readonly RunMoment[]): readonly WaterfallRow[] {
  const first = moments.find((moment) => fits(moment, from));
  if (first === undefined) return [];
  const last = moments.find((moment) => moment.atMs >= first.atMs && fits(moment, to));
  return [{ label, kind, fromMs: first.atMs, ...(last === undefined ? {} : { toMs: last.atMs }) }];
}

function fits(moment: RunMoment, { by, step, state, key }: Point): boolean {
  if (moment.step !== step || moment.state !== state || (by !== undefined && moment.by !== by)) return false;
  return key === undefined || moment.key === key;
}

/** One row per step; a command that was run again has some steps more than once. */
function stepRows(moments: readonly RunMoment[]): readonly WaterfallRow[] {
  const open = new Map<string, number>();
  const rows: WaterfallRow[] = [];
  for (const { step, state, atMs } of moments) {
    if (state === 'began') open.set(step, atMs);
    const fromMs = open.get(step);
    if (state !== 'done' || fromMs === undefined) continue;
    rows.push({ label: step, kind: 'span', fromMs, toMs: atMs });
    open.delete(step);
  }
  return [...rows, ...[...open].map(([label, fromMs]) => ({ label, kind: 'span', fromMs }) as const)];
}

/** From when to when the load balancer sent connections to a machine. */
function backendRows(moments: readonly RunMoment[]): readonly WaterfallRow[] {
  const rows = stepRows(moments).map((row): WaterfallRow => ({ ...row, kind: 'state' }));
  return rows.toSorted((a, b) => b.label.localeCompare(a.label) || a.fromMs - b.fromMs);
}
