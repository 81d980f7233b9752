// What the membership loop reports to journal, terminal and tests. Each fact is reported when it changes.
import type { Missing } from '../contract/missing.ts';
import type { CallOutcome } from '../etcd/outcomes.ts';
import type { MembershipStage, Move } from './move.ts';

export type MembershipEvent =
  /** Another machine holds the Lease and changes the members; this one waits for the Lease. */
  | { readonly kind: 'standing-by' }
  /** `starting` were added and have not started; `learners` catch up. */
  | {
      readonly kind: 'members';
      readonly voters: readonly string[];
      readonly learners: readonly string[];
      readonly starting: readonly string[];
    }
  | { readonly kind: 'moved'; readonly move: Move; readonly tookMs: number }
  | { readonly kind: 'withheld'; readonly move: Move; readonly why: string }
  | {
      readonly kind: 'refused';
      readonly move: Move;
      readonly outcome: CallOutcome;
      readonly said: string;
      /** Reported once, and again when overdue: it is normal that etcd refuses for a few seconds. */
      readonly forMs: number;
      readonly isOverdue: boolean;
    }
  | { readonly kind: 'waiting'; readonly stage: MembershipStage; readonly missing: readonly Missing[] }
  | { readonly kind: 'bootstrap-gone'; readonly confirmedBy: readonly string[] };
