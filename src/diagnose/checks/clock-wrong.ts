// The clock of a machine differs from the clock of this host.
import type { DiagnosisCheck } from '../check.ts';

/** From this difference on, the rules of etcd membership refuse a master. */
const limitMs = 1_000;

export const clockWrong: DiagnosisCheck = {
  name: 'clock-wrong',
  why: 'Certificates, tokens and Leases are believed by the clock; a master whose clock is wrong is not added to etcd.',
  looksAt: 'the time inside the machine, against the time of this host before and after it was asked',
  certainty: 'measured',
  find: ({ machines }) =>
    machines
      .filter(({ clockAheadMs }) => Math.abs(clockAheadMs) >= limitMs)
      .map(({ name, clockAheadMs }) => {
        const side = clockAheadMs > 0 ? 'ahead' : 'behind';
        return {
          machine: name,
          sentence: `the clock of ${name} is ${duration(Math.abs(clockAheadMs))} ${side}`,
          seen: `it differs from the clock of this host by at least ${(Math.abs(clockAheadMs) / 1000).toFixed(1)} s`,
          next: { verb: 'machine exec', rest: `${name} -- date --utc` },
        };
      }),
};

function duration(ms: number): string {
  const seconds = Math.round(ms / 1000);
  if (seconds < 120) return `${seconds} s`;
  return seconds < 7200 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3600)} h`;
}
