// What a decision can be: one change of the membership, or waiting, with what is missing.
import type { Missing } from '../contract/missing.ts';
import type { MemberId } from '../etcd/member.ts';
import type { MembershipView } from './membership-view.ts';

export type RemovalReason =
  | 'bootstrap-done'
  /** Added as a learner a minute ago and never started. */
  | 'never-started'
  /** Its machine lost the data; it joins again as a new member. */
  | 'data-lost'
  /** Its machine is gone, or it has been silent for minutes. */
  | 'dead';

/** One change, as a rule proposes it. */
export type MembershipChange =
  | { readonly kind: 'add'; readonly node: string; readonly peerUrl: string; readonly via: string }
  | { readonly kind: 'promote'; readonly node: string; readonly member: MemberId; readonly via: string }
  | { readonly kind: 'move-leader'; readonly node: string; readonly member: MemberId; readonly via: string }
  | {
      readonly kind: 'remove';
      readonly node: string;
      readonly member: MemberId;
      readonly peerUrls: readonly string[];
      readonly because: RemovalReason;
      readonly via: string;
    };

/** A member that votes after a change and was proven alive before it. A change is safe when these are a majority. */
export interface LivingVoter {
  readonly name: string;
  readonly clientUrl: string;
  readonly isLearner: boolean;
}

/**
 * A change and the members that make it safe: the healthy voters after it. When the look took long, each gets one more
 * request right before the call, because etcd itself does not check whether they are alive.
 */
export type Move = MembershipChange & { readonly restsOn: readonly LivingVoter[] };

/**
 * `unreadable`: no majority answers; nothing may be done. `growing`: masters are missing or faulty. `grown`: all vote,
 * the handoff may go on. `shrinking`: only the bootstrap member must be removed. `steady`: exactly the masters vote.
 */
export type MembershipStage = 'unreadable' | 'growing' | 'grown' | 'shrinking' | 'steady';

export interface MembershipWait {
  readonly kind: 'waiting';
  readonly stage: MembershipStage;
  /** Each completes "waiting for" or names what is wrong with a member. Empty when steady. */
  readonly missing: readonly Missing[];
}

export type RuleVerdict =
  | { readonly status: 'propose'; readonly change: MembershipChange }
  | { readonly status: 'no-change'; readonly missing: readonly Missing[] };

export type MembershipRule = (view: MembershipView) => RuleVerdict;

export function propose(change: MembershipChange): RuleVerdict {
  return { status: 'propose', change };
}

export function noChange(...missing: readonly Missing[]): RuleVerdict {
  return { status: 'no-change', missing };
}
