// What preflight looks at, before any judgement: the Secret, the host, the payload, and the services that the change
// needs. Checks are pure functions of these facts, so that their tests need no machine.
import type { AttemptSecret, HostAttempt } from '../../contract/in-place.ts';
import type { MachineConfigSpec } from '../../machine-config/machine-config.ts';

/** What came of a connection: an answer, or where it broke; `answer`: it came, and is larger than any can be. */
export type Reached<Value> =
  | { readonly status: 'answered'; readonly value: Value }
  | { readonly status: 'unreached'; readonly stage: 'dns' | 'connect' | 'tls' | 'answer'; readonly detail: string };

export interface OperatingSystem {
  /** `ID`, `VERSION_ID` and the words of `ID_LIKE` in os-release. */
  readonly id: string;
  readonly version: string;
  readonly like: readonly string[];
  /** Its image was made by this program. */
  readonly isFirstlightImage: boolean;
}

export interface HostFacts {
  readonly system: OperatingSystem;
  readonly isRoot: boolean;
  readonly hasSystemd: boolean;
  /** Of `lookedForTools`, those that the host has. */
  readonly tools: readonly string[];
  readonly space: readonly { readonly path: string; readonly freeBytes: number }[];
  readonly isFips: boolean;
  /** The state file of the bootstrapper. */
  readonly attempt: HostAttempt | undefined;
  /** The config that the machine has; undefined where it has none that can be read. */
  readonly currentConfig: MachineConfigSpec | undefined;
}

/** The Node object of this machine, as its kubelet may read it. */
export type NodeLook =
  | { readonly status: 'seen'; readonly isCordoned: boolean; readonly configState: string | undefined }
  | { readonly status: 'unseen'; readonly reason: string };

export interface PayloadAnswer {
  readonly code: number;
  /** The header `Date`. */
  readonly date: string | undefined;
  readonly body: Uint8Array;
}

export interface PayloadFacts {
  /** Without its query. */
  readonly url: string;
  readonly host: string;
  readonly port: string;
  readonly answer: Reached<PayloadAnswer>;
}

export interface RegistryFacts {
  readonly image: string;
  readonly registry: string;
  /** `present`: containerd has it. A number: what the registry answered. */
  readonly answer: 'present' | Reached<number>;
}

/** A package repository that did not answer as it should. */
export interface BrokenRepository {
  readonly id: string;
  readonly detail: string;
}

export interface ReportFacts {
  readonly url: string;
  /** The cluster's own API, on which an attempt depends, and not only the report of one. */
  readonly isOwn: boolean;
  readonly answer: Reached<number>;
}

export interface JoinApiFacts {
  readonly url: string;
  /** Undefined: the token may ask for a certificate. */
  readonly problem: string | undefined;
}

/** What the archive of the other route is: worker, cluster and region, or what is wrong with it. */
export type ArchiveFacts =
  | { readonly status: 'verified'; readonly ids: readonly string[]; readonly kubeconfig: string | undefined }
  | { readonly status: 'refused'; readonly check: string; readonly reason: string };

export interface PreflightFacts {
  readonly node: string;
  readonly attemptId: string;
  readonly isAdoption: boolean;
  readonly secret: AttemptSecret;
  readonly now: Date;
  readonly host: HostFacts;
  /** Undefined for a machine that is no node yet. */
  readonly nodeObject: NodeLook | undefined;
  /** Undefined while the Secret has no URL for it. */
  readonly payload: PayloadFacts | undefined;
  /** Of the route by payload, when one was downloaded. */
  readonly archive: ArchiveFacts | undefined;
  readonly registries: readonly RegistryFacts[];
  /** Of the route by payload: those that fail; undefined on the other route. */
  readonly brokenRepositories: readonly BrokenRepository[] | undefined;
  readonly reports: readonly ReportFacts[];
  /** Undefined where no payload says which API it is. */
  readonly api: JoinApiFacts | undefined;
}
