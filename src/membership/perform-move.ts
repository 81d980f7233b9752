// Performs one move. Rules: at most one membership call is in progress; a call that may have taken effect is reported
// as such and never repeated here, because only the next look at the member list shows whether it did.
import type { Answer, EtcdClients, Failure } from '../etcd/client.ts';
import type { Member } from '../etcd/member.ts';
import type { CallOutcome } from '../etcd/outcomes.ts';
import type { LivingVoter, Move } from './move.ts';
import { proveAlive } from './observe-members.ts';

export type MoveOutcome =
  /** `members` as etcd listed them right after the change, where it did. */
  | { readonly status: 'done'; readonly members?: readonly Member[] }
  | { readonly status: 'refused'; readonly failure: Failure }
  /** Not sent: what was true when it was decided is no longer true. */
  | { readonly status: 'withheld'; readonly why: string };

export interface PerformOptions {
  readonly clients: EtcdClients;
  /** True while this process may change the membership. */
  readonly mayAct: () => boolean;
  /** How long the look took that led to this move: its oldest answer may be that old. */
  readonly lookMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** Refusals that mean: the change is already in force. */
const alreadySo: Readonly<Record<Move['kind'], readonly CallOutcome[]>> = {
  add: ['peer-url-exists', 'member-exists'],
  promote: ['not-a-learner'],
  remove: ['member-not-found'],
  'move-leader': [],
};

/**
 * An undisturbed look is faster than this. After a slower one the voters must answer again, so that no change depends
 * on a proof of life that is much older.
 */
const freshMs = 40;

export async function performMove(move: Move, options: PerformOptions): Promise<MoveOutcome> {
  if (options.lookMs > freshMs) {
    const silent = await silentVoters(move.restsOn, options);
    if (silent.length > 0) return { status: 'withheld', why: `${silent.join(', ')} does not answer any more` };
  }
  if (!options.mayAct()) return { status: 'withheld', why: 'another machine looks after the members now' };
  const answer = await send(move, options);
  if (answer.status === 'failed') {
    return alreadySo[move.kind].includes(answer.outcome) ? { status: 'done' } : { status: 'refused', failure: answer };
  }
  return { status: 'done', ...(answer.value === undefined ? {} : { members: answer.value }) };
}

async function silentVoters(
  voters: readonly LivingVoter[],
  { clients, signal }: PerformOptions,
): Promise<readonly string[]> {
  const proofs = await Promise.all(voters.map((voter) => proveAlive(clients.at(voter.clientUrl), voter, signal)));
  return voters.filter((_voter, index) => proofs[index]?.status !== 'ok').map(({ name }) => name);
}

function send(move: Move, { clients, signal }: PerformOptions): Promise<Answer<readonly Member[] | void>> {
  const client = clients.at(move.via);
  switch (move.kind) {
    case 'add':
      return client.addLearner(move.peerUrl, { signal });
    case 'promote':
      return client.promote(move.member, { signal });
    case 'remove':
      return client.remove(move.member, { signal });
    case 'move-leader':
      return client.moveLeader(move.member, { signal });
  }
}
