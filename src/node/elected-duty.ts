// A duty that one master at a time performs under a Lease: its outcome, the state of the election as a note, and its
// events as lines of the log.
import { waitingFor } from '../contract/missing.ts';
import type { ElectionEvent } from '../kubernetes/lease.ts';
import type { BackgroundState } from './background-tasks.ts';
import { type DutyOutcome, settled, waiting } from './duty.ts';

/** Settled once the election has begun, on the master that leads and on those that stand by. */
export function electedOutcome(duty: string, { note, lastFailure }: BackgroundState): DutyOutcome {
  if (note !== undefined) return settled(note);
  return waiting(waitingFor(lastFailure ?? 'its Lease', '', { key: `the Lease of the ${duty}` }));
}

export function electionNote(setNote: (note: string) => void): (event: ElectionEvent) => void {
  return (event) => {
    switch (event.kind) {
      case 'leading':
        return setNote('leads');
      case 'following':
        return setNote(`stands by for ${event.holder}`);
      case 'stopped':
        return setNote(`does not lead any more: ${event.reason}`);
      case 'trouble':
        return setNote(`cannot see its Lease: ${event.error.message}`);
    }
  };
}

/** An error in an event is written as its message. */
export function eventLine(event: object): string {
  return JSON.stringify(event, (_name, value: unknown) => (value instanceof Error ? value.message : value));
}
