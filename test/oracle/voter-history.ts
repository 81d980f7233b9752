// What the events of the membership loop say about the number of voters.
import type { MembershipEvent } from '../../src/membership/membership-events.ts';

/** How many members voted over time, without repetitions: a whole handoff of three masters is 1, 2, 3, 4, 3. */
export function voterHistory(events: readonly MembershipEvent[]): readonly number[] {
  const counts = events.flatMap((event) => (event.kind === 'members' ? event.voters.length : []));
  return counts.filter((count, index) => count !== counts[index - 1]);
}
