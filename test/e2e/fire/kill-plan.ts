// Which processes are killed, and when, in one run of `create cluster`: drawn from a seed, spread over the whole run.
// The draw is repeatable; where exactly a process is hit inside its moment is up to the machine, and told in the table.
import type { Program } from './machine-processes.ts';
import { isBefore, moments, rankOf } from './moments.ts';

export type Victim =
  | { readonly kind: 'command' }
  | { readonly kind: 'process'; readonly program: Program; readonly machine: string }
  | { readonly kind: 'reboot'; readonly machine: string }
  /** Whoever asked, at the moment when etcd has answered this call and the answer is not there yet. */
  | { readonly kind: 'between'; readonly call: MembershipCall };

export const membershipCalls = ['MemberAdd', 'MemberPromote', 'MemberRemove'] as const;
export type MembershipCall = (typeof membershipCalls)[number];

export interface KillPoint {
  readonly after: string;
  readonly delayMs: number;
  readonly victim: Victim;
}

/** Repeatable numbers in [0, 1): mulberry32. */
export function chance(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const masters = ['master-0', 'master-1', 'master-2'];
const command: Victim = { kind: 'command' };
const onBootstrap = (program: Program): Victim => ({ kind: 'process', program, machine: 'bootstrap' });
const onMasters = (program: Program): readonly Victim[] =>
  masters.map((machine) => ({ kind: 'process', program, machine }));
const reboots = (...machines: readonly string[]): readonly Victim[] =>
  machines.map((machine) => ({ kind: 'reboot', machine }));

interface Era {
  /** The last moment of it. */
  readonly until: string;
  /** How long after a moment of it a point may lie. */
  readonly delayMs: number;
  readonly victims: readonly Victim[];
  /** How many points of ten fall into it. */
  readonly weight: number;
}

const eras: readonly Era[] = [
  { until: 'start', delayMs: 900, weight: 1, victims: [command] },
  { until: 'machines', delayMs: 2_500, weight: 1, victims: [command] },
  {
    until: 'machine-config',
    delayMs: 600,
    weight: 1,
    victims: [command, onBootstrap('bootkube'), onBootstrap('kubelet')],
  },
  {
    until: 'api-verification',
    delayMs: 4_000,
    weight: 2,
    victims: [
      command,
      onBootstrap('bootkube'),
      onBootstrap('kubelet'),
      onBootstrap('etcd'),
      onBootstrap('kube-apiserver'),
      ...reboots('bootstrap'),
      ...onMasters('kubelet').slice(0, 1),
    ],
  },
  {
    until: 'control-planes',
    delayMs: 5_000,
    weight: 3,
    victims: [
      command,
      onBootstrap('bootkube'),
      onBootstrap('etcd'),
      onBootstrap('kube-apiserver'),
      ...onMasters('agent'),
      ...onMasters('kubelet'),
      ...onMasters('etcd'),
      ...onMasters('kube-apiserver'),
      ...reboots('bootstrap', ...masters),
    ],
  },
  {
    until: 'leave-etcd',
    delayMs: 2_500,
    weight: 2,
    victims: [
      command,
      onBootstrap('bootkube'),
      onBootstrap('etcd'),
      onBootstrap('kubelet'),
      ...onMasters('agent'),
      ...onMasters('kubelet'),
      ...onMasters('etcd'),
      ...onMasters('kube-apiserver'),
      ...reboots('master-1'),
    ],
  },
  {
    until: 'finished',
    delayMs: 3_000,
    weight: 1,
    victims: [
      command,
      onBootstrap('tectonic'),
      onBootstrap('rm-assets'),
      ...onMasters('agent'),
      ...onMasters('etcd'),
      ...onMasters('kube-apiserver'),
      { kind: 'process', program: 'kubelet', machine: 'worker-0' },
      ...reboots('worker-0', 'master-2'),
    ],
  },
];

/** In the order in which they are due; `between` points come when the call comes. */
export function killPlan(seed: number, count: number): readonly KillPoint[] {
  const next = chance(seed);
  const pick = <T>(from: readonly T[]): T => from[Math.floor(next() * from.length)] as T;
  const bag = eras.flatMap((era) => Array.from({ length: era.weight }, () => era));
  const timed = Array.from({ length: count - 1 }, (): KillPoint => {
    const era = pick(bag);
    const after = pick(momentsOf(era));
    return { after, delayMs: Math.round(next() * era.delayMs), victim: pick(era.victims) };
  });
  const between: Victim = { kind: 'between', call: pick(membershipCalls) };
  return [...timed, { after: 'masters', delayMs: 0, victim: between }].toSorted(
    (a, b) => rankOf(a.after) - rankOf(b.after) || a.delayMs - b.delayMs,
  );
}

function momentsOf(era: Era): readonly string[] {
  const previous = eras[eras.indexOf(era) - 1];
  return moments.filter(
    (moment) => !isBefore(era.until, moment) && (previous === undefined || isBefore(previous.until, moment)),
  );
}

export function victimText(victim: Victim): string {
  switch (victim.kind) {
    case 'command':
      return 'kill -9 create cluster';
    case 'process':
      return `kill -9 ${victim.program} on ${victim.machine}`;
    case 'reboot':
      return `reboot ${victim.machine}`;
    case 'between':
      return `kill -9 whoever asks between ${victim.call} and its reply`;
  }
}
