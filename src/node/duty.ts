// What a duty is: one thing that an agent keeps true on its machine. A duty looks first and acts only where what it
// sees differs from what should be, so that it may run and be killed at any moment. It never waits: what is missing
// is its outcome, and it runs again when something may have changed.
import type { NodeRole } from '../contract/machine-role.ts';
import type { Missing } from '../contract/missing.ts';
import type { Agent } from './agent-context.ts';

export type DutyOutcome =
  /** The machine is as it should be; nothing was changed. */
  | { readonly status: 'settled'; readonly note?: string }
  /** Something was changed; the duty runs again at once. */
  | { readonly status: 'acted'; readonly did: string; readonly key?: string }
  /** Each value of `missing` completes the sentence "waiting for …". */
  | { readonly status: 'waiting'; readonly missing: readonly Missing[] };

export interface Duty {
  readonly name: string;
  readonly roles: readonly NodeRole[];
  /** Duties that must have been settled once since the agent started. */
  readonly needs: readonly string[];
  /** Pause between two runs while it is not settled. Default 1 s. */
  readonly tickMs?: number;
  /** Pause between two runs while it is settled. Default 30 s. */
  readonly settledTickMs?: number;
  /** Once settled, it runs by its tick alone: no change that rings the doorbell concerns it. */
  readonly ignoresRingsWhenSettled?: boolean;
  readonly run: (agent: Agent) => Promise<DutyOutcome>;
}

export function settled(note?: string): DutyOutcome {
  return note === undefined ? { status: 'settled' } : { status: 'settled', note };
}

/** `key` names the action for programs that read the timeline. */
export function acted(did: string, key?: string): DutyOutcome {
  return { status: 'acted', did, ...(key === undefined ? {} : { key }) };
}

export function waiting(...missing: readonly Missing[]): DutyOutcome {
  return { status: 'waiting', missing };
}
