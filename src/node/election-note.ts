// How an election stands, in a word for the state of a duty.
import type { ElectionEvent } from '../kubernetes/lease.ts';

export function electionNote(say: (note: string) => void): (event: ElectionEvent) => void {
  return (event) => {
    switch (event.kind) {
      case 'leading':
        return say('leads');
      case 'following':
        return say(`stands by for ${event.holder}`);
      case 'stopped':
        return say(`does not lead any more: ${event.reason}`);
      case 'trouble':
        return say(`cannot see its Lease: ${event.error.message}`);
    }
  };
}
