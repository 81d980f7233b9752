// A machine as the rest of the program knows it, on any platform. What it should be is recorded when it is made; what
// it does right now is never stored, only observed.
import { z } from 'zod';
import type { FirstBootStatus } from '../contract/first-boot-status.ts';
import type { MachineRole } from '../contract/machine-role.ts';

/** One DNS label, because machines are known by name on the cluster's network. */
const label = z
  .string()
  .regex(/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/, 'must be a DNS label: a-z, 0-9 and inner dashes');

/** Names that the cluster's name server answers itself. */
const reservedNames: readonly string[] = ['api', 'api-int', 'apps', 'switch'];

export const clusterName = label;
export const machineName = label.refine((name) => !reservedNames.includes(name), {
  message: `is taken by the cluster itself: ${reservedNames.join(', ')}`,
});

/** What the caller decides about a new machine; the platform chooses the rest when it makes it. */
export interface MachineRequest {
  readonly name: string;
  readonly role: MachineRole;
  /** Next free address of the machine network when not given. */
  readonly address?: string;
  readonly ignition: Uint8Array;
}

/** A platform may return more fields about its machines than these; `machine list -o json` prints them all. */
export interface Machine {
  readonly name: string;
  readonly role: MachineRole;
  readonly address: string;
}

export type MachineState =
  | 'stopped'
  /** It has been started; systemd inside has not finished booting. */
  | 'booting'
  /** Ignition is at work or waits for something. */
  | 'first-boot'
  | 'first-boot-failed'
  | 'running'
  /** Booted, but a unit failed. */
  | 'degraded'
  | 'stopping';

export interface ObservedMachine extends Machine {
  readonly state: MachineState;
  /** One line that says more than the state. */
  readonly detail: string;
  readonly firstBoot?: FirstBootStatus;
  /** Process 1 of the machine, where it is a process of this host. */
  readonly leaderPid?: number;
}
