// One run of `create cluster` with a plan of kills: fires each point when it is due and writes down what was really hit.
import { startCli } from '../machine-lab.ts';
import type { FireCluster } from './fire-cluster.ts';
import { type KillPoint, type Victim, victimText } from './kill-plan.ts';
import { pidOf, signal } from './machine-processes.ts';
import { isBefore, latestMoment } from './moments.ts';

export interface FiredPoint {
  readonly seed: number;
  readonly number: number;
  readonly planned: string;
  /** What was done to whom; the command is killed where the victim was not there any more. */
  readonly did: string;
  /** The latest moment that could be seen then. */
  readonly at: string;
  readonly sinceStartMs: number;
}

const pause = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));
/** How long a victim that is not there yet is waited for. */
const appearsWithinMs = 20_000;

export async function fire(cluster: FireCluster, plan: readonly KillPoint[], seed: number): Promise<FiredPoint[]> {
  const startMs = performance.now();
  const fired: FiredPoint[] = [];
  const write = (point: KillPoint, did: string): void => {
    fired.push({
      seed,
      number: fired.length + 1,
      planned: `${point.after} + ${point.delayMs} ms: ${victimText(point.victim)}`,
      did,
      at: latestMoment(cluster.dir),
      sinceStartMs: Math.round(performance.now() - startMs),
    });
  };
  const between = plan.filter(({ victim }) => victim.kind === 'between');
  const waiting = between.map((point) => fireBetween(cluster, point, write));
  for (const point of plan) {
    if (point.victim.kind === 'between') continue;
    await cluster.reach(point.after);
    await pause(point.delayMs);
    write(point, await strike(cluster, point.victim, point.after));
  }
  await Promise.all(waiting);
  return fired;
}

async function strike(cluster: FireCluster, victim: Victim, after: string): Promise<string> {
  cluster.mustHaveSucceeded();
  if (victim.kind === 'reboot') return reboot(cluster, victim.machine);
  if (victim.kind === 'process') {
    const { program, machine } = victim;
    const endMs = performance.now() + appearsWithinMs;
    // A victim that comes later than its moment is waited for, unless its time is over.
    while (performance.now() < endMs && !cluster.isOver) {
      const pid = pidOf(cluster.infraId, machine, program);
      if (pid !== undefined && signal(pid, 'SIGKILL')) return `killed ${program} on ${machine}`;
      if (isGone(cluster, program, after)) break;
      await pause(20);
    }
  }
  await cluster.killCommand();
  return victim.kind === 'command' ? 'killed the command' : 'not there any more: killed the command instead';
}

function isGone(cluster: FireCluster, program: string, after: string): boolean {
  const now = latestMoment(cluster.dir);
  const isOfBootstrap = ['bootkube', 'tectonic', 'rm-assets'].includes(program);
  return isBefore(after, now) && (now === 'removed' || now === 'finished') && isOfBootstrap;
}

async function reboot(cluster: FireCluster, machine: string): Promise<string> {
  const { code, stderr } = await startCli(['machine', 'reboot', '--cluster', cluster.infraId, machine]).outcome;
  if (code === 0) {
    cluster.gate?.lead(machine);
    return `rebooted ${machine}`;
  }
  await cluster.killCommand();
  return `no reboot (${stderr.trim().split('\n')[0]}): killed the command instead`;
}

/** Kills whoever looks after the members when etcd has carried a call out and the caller does not know it yet. */
async function fireBetween(
  cluster: FireCluster,
  point: KillPoint,
  write: (point: KillPoint, did: string) => void,
): Promise<void> {
  if (point.victim.kind !== 'between') return;
  const { call } = point.victim;
  await cluster.reach('machines');
  const gate = cluster.gate ?? (await cluster.openGate());
  gate.set(call, 'hold-answer');
  // And the answer to a call of another kind gets lost without anybody dying of it.
  gate.set(call === 'MemberAdd' ? 'MemberPromote' : 'MemberAdd', 'lose-answer');
  const did = await new Promise<string>((done) => {
    let isDone = false;
    gate.onEvent((event) => {
      if (isDone || event.call !== call || event.kind !== 'answered' || event.grpcStatus !== '0') return;
      isDone = true;
      const program = event.from === 'bootstrap' ? 'bootkube' : 'agent';
      const pid = pidOf(cluster.infraId, event.from, program);
      const isKilled = pid !== undefined && signal(pid, 'SIGKILL');
      gate.set(call, 'pass');
      const whom = `${program} on ${event.from}`;
      done(isKilled ? `killed ${whom} while the answer of ${event.member} was on its way` : `${whom} was not there`);
    });
    void cluster.reach('add-ons', 600).then(() => (isDone ? undefined : done('the call did not come')), done);
  });
  write(point, did);
}

export function pointTable(points: readonly FiredPoint[]): string {
  const rows = points.map(({ seed, number, at, sinceStartMs, planned, did }) =>
    [seed, number, `${(sinceStartMs / 1000).toFixed(1)} s`, at, planned, did].join(' | '),
  );
  return ['seed | point | after | at | planned | done', ...rows].join('\n');
}
