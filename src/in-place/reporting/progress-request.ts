// What the routes of the progress API have in common: what they work with, and what is in a request.
import type { FirstlightError } from '../../errors/firstlight-error.ts';
import type { Host } from '../../host/host.ts';
import type { ServerRequest } from '../../host/https-server.ts';
import type { KubernetesClient } from '../../kubernetes/client.ts';
import type { PayloadIds } from '../payload/payload-manifest.ts';
import type { AttemptRecords } from './attempt-records.ts';

export interface WantedPayload {
  readonly ids: PayloadIds;
  readonly pool: string;
  /** The rendered config; undefined for the one that new machines of the pool get. */
  readonly config: string | undefined;
  /** Of the machine that asks. */
  readonly address: string;
}

export type MadePayload =
  | { readonly archive: Uint8Array; readonly config: string; readonly tokenId: string }
  /** `reason` is for the log, and for whoever has shown the token. */
  | { readonly refusal: 'payload-not-ready' | 'payload-impossible'; readonly reason: string };

export interface ProgressRoutesOptions {
  readonly client: KubernetesClient;
  /** Of requests to the API for what is not known here; false when the client has had its share. */
  readonly lookUps: { take(address: string): boolean };
  readonly makePayload: (wanted: WantedPayload) => Promise<MadePayload>;
  readonly onTrouble: (error: FirstlightError) => void;
  /** When it is aborted, no request is kept waiting any longer. */
  readonly signal: AbortSignal;
}

/** What the handlers of the routes share. */
export interface ProgressParts extends ProgressRoutesOptions {
  readonly host: Host;
  readonly records: AttemptRecords;
}

/** The ids that a path names; empty where it has none. */
export interface PathIds {
  readonly cluster: string;
  readonly node: string;
  readonly attemptId: string;
}

/** The credential of `Authorization: Bearer …`, which may be a token of a service account. */
export function bearerCredential({ headers }: ServerRequest): string {
  return /^Bearer +([!-~]{1,4096}) *$/i.exec(headers['authorization'] ?? '')?.[1] ?? '';
}
