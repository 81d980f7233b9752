// Whether a machine can get from the config that it has to another, and what that costs: a pure function. What it
// returns is written to the disk before anything happens.
import type { Difference } from '../machine-config/diff.ts';
import { diffSpecs } from '../machine-config/diff.ts';
import type { DisruptionAction, DisruptionPolicies } from '../machine-config/disruption.ts';

import { reconcilableProblems } from '../machine-config/reconcilable.ts';
import type { AppliedConfig } from './applied-config.ts';
import type { MachineChange, PostAction } from './daemon-state.ts';
import { orderedActions } from './post-actions.ts';

export interface PrepareRequest {
  readonly from: AppliedConfig;
  readonly to: AppliedConfig;
  readonly policies: DisruptionPolicies;
  readonly isForced: boolean;
  readonly bootId: string;
  readonly failedBefore: readonly string[];
  readonly now: Date;
}

export type PreparedChange =
  | { readonly status: 'ready'; readonly change: MachineChange }
  /** No machine that has `from` can be brought to `to`. */
  | { readonly status: 'unreconcilable'; readonly reason: string };

export function prepareChange(request: PrepareRequest): PreparedChange {
  const { from, to, policies, isForced, bootId, failedBefore, now } = request;
  const problems = reconcilableProblems(from.spec, to.spec);
  if (problems.length > 0) {
    const reason = `${to.name} cannot be reached from ${from.name}: ${problems.map(({ message }) => message).join('; ')}`;
    return { status: 'unreconcilable', reason };
  }
  const there = diffSpecs(from.spec, to.spec, policies);
  const change: MachineChange = {
    from: from.name,
    to: to.name,
    direction: 'forward',
    reason: '',
    phase: 'draining',
    since: now.toISOString(),
    needsDrain: there.needsDrain || isForced,
    isForced,
    forward: disruptionOn(there, isForced),
    back: disruptionOn(diffSpecs(to.spec, from.spec, policies), isForced),
    actionsBegun: 0,
    bootId,
    failedBefore,
  };
  return { status: 'ready', change };
}

/** After a forced change nobody knows which programs had read what, so the machine is rebooted, as upstream does. */
function disruptionOn({ needsReboot, actions }: Difference, isForced: boolean): MachineChange['forward'] {
  if (needsReboot || isForced) return { needsReboot: true, actions: [] };
  return { needsReboot: false, actions: orderedActions(actions.flatMap((action) => postActionOf(action))) };
}

function postActionOf(action: DisruptionAction): readonly PostAction[] {
  switch (action.kind) {
    case 'daemon-reload':
      return [{ kind: 'daemon-reload' }];
    case 'reload':
    case 'restart':
      return [{ kind: action.kind, unit: action.unit }];
    case 'none':
    case 'drain':
    case 'reboot':
    case 'new-machines-only':
      return [];
  }
}
