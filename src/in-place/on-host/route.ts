// What a route is for the unit on the host: how far its work is, as the disk shows it, and the acts that bring it
// further. Each act may be repeated: a unit that was killed begins the one that it was at again.
import type { AttemptSettings, HostAttempt } from '../../contract/in-place.ts';
import type { Host } from '../../host/host.ts';
import type { AttemptReportEvent } from '../reporting/reporter.ts';
import type { WorkState } from './next-host-step.ts';

export interface RouteContext {
  readonly host: Host;
  readonly settings: AttemptSettings;
  readonly signal: AbortSignal;
  readonly log: (line: string) => void;
  /** For the person who follows the attempt. */
  readonly report: (event: AttemptReportEvent) => Promise<void>;
}

export type WorkOutcome =
  | { readonly status: 'done' }
  /** It can be tried again, and has changed nothing that the next try would not change. */
  | { readonly status: 'again'; readonly reason: string }
  | { readonly status: 'failed'; readonly code: string; readonly message: string };

export interface InPlaceRoute {
  look(attempt: HostAttempt): Promise<WorkState>;
  /** Downloads and lays ready; changes nothing of the machine. */
  prepare(): Promise<WorkOutcome>;
  /** Does the work of the phase, within the time. */
  work(attempt: HostAttempt, deadlineMs: number): Promise<WorkOutcome>;
  /** True when the machine is as it was before the work. */
  undo(attempt: HostAttempt): Promise<boolean>;
  /** Removes what an attempt that failed laid ready outside of its folder. */
  tidy(): Promise<void>;
}
