// Everything that the checks look at, as one value: what the platform knows about its machines, what the machines
// report about themselves, and what the API reports. A part that could not be read is undefined; a check may use that.
import type { AgentState } from '../contract/agent-state.ts';
import type { FirstBootStatus } from '../contract/first-boot-status.ts';
import type { MachineRole } from '../contract/machine-role.ts';
import type { Missing } from '../contract/missing.ts';
import type { AttemptView } from '../in-place/attempt-view.ts';
import type { OperatorView, ReleaseView } from '../operators/operator-view.ts';
import type { PoolView } from '../pool-rollout/pool-view.ts';
import type { InsideFacts } from './inside/inside-facts.ts';

export interface DiagnosedMachine {
  readonly name: string;
  readonly role: MachineRole;
  readonly address: string;
  /** As its platform reports it. */
  readonly isRunning: boolean;
  readonly firstBoot: FirstBootStatus | undefined;
  readonly agent: AgentState | undefined;
  /** Undefined where no command could be run inside. */
  readonly inside: InsideFacts | undefined;
  /** Zero when the clocks may agree, else by how much they differ at least; positive when the machine's is ahead. */
  readonly clockAheadMs: number;
}

export interface NodeCondition {
  readonly node: string;
  readonly type: string;
  readonly status: string;
  readonly message: string;
}

/** A container that waits, with the reason that the kubelet gives. */
export interface WaitingContainer {
  readonly pod: string;
  readonly node: string;
  readonly reason: string;
  readonly message: string;
}

/** The newest attempt of a node. */
export interface DiagnosedAttempt {
  readonly attempt: AttemptView;
  /** For how long nothing has moved; undefined while something does. */
  readonly stillMs: number | undefined;
  readonly isCordoned: boolean;
}

export interface ApiFacts {
  readonly conditions: readonly NodeCondition[];
  readonly waiting: readonly WaitingContainer[];
  /** Empty while the API knows no pools. */
  readonly pools: readonly PoolView[];
  /** Empty while the API knows no attempts. */
  readonly attempts: readonly DiagnosedAttempt[];
  /** Empty while the API knows no operators. */
  readonly operators: readonly OperatorView[];
  /** Undefined while the API does not have its ClusterVersion. */
  readonly release: ReleaseView | undefined;
}

export interface DiagnosisFacts {
  /** The name that machines resolve, and the address it should have. */
  readonly apiInternal: { readonly name: string; readonly address: string };
  readonly isBalancerRunning: boolean;
  /** The point before which a person holds the bootstrap; undefined while nobody does. */
  readonly heldBefore?: string;
  readonly machines: readonly DiagnosedMachine[];
  /** What is waited for; the machines that it is about are looked at first. */
  readonly missing: readonly Missing[];
  /** Undefined while the API does not answer. */
  readonly api: ApiFacts | undefined;
}
