// Asks the progress API for what this pod is to do: the Secret of its node and a token for reports. The pod shows the
// token of its service account, which the API knows to be for this pod on this node.
import { type InPlaceFacts, type ReporterGrant, reporterGrantSchema, reporterPath } from '../../contract/in-place.ts';
import { isError } from '../../errors/firstlight-error.ts';
import { hostErrors } from '../../host/errors.ts';
import type { Host } from '../../host/host.ts';
import { jsonIfValid } from '../../host/json-if-valid.ts';

export type GrantAnswer =
  | { readonly status: 'granted'; readonly grant: ReporterGrant }
  /** The attempt has begun on the host, or has ended: there is nothing for a pod to do. */
  | { readonly status: 'refused' }
  /** Completes "waits for …". */
  | { readonly status: 'waiting'; readonly waitsFor: string };

export interface GrantRequest {
  readonly facts: InPlaceFacts;
  readonly node: string;
  /** A file: the kubelet renews the token in it. */
  readonly tokenFile: string;
}

const timeoutMs = 10_000;
const refusals = [409, 410];

export async function askGrant(host: Host, request: GrantRequest, signal: AbortSignal): Promise<GrantAnswer> {
  const { facts, node, tokenFile } = request;
  const token = (await host.files.readText(tokenFile)).trim();
  try {
    const { status, body } = await host.network.request({
      url: facts.serviceUrl + reporterPath(facts.clusterId, node),
      method: 'POST',
      headers: { authorization: `Bearer ${token}` },
      ca: facts.serviceCa,
      timeoutMs,
      signal,
    });
    if (refusals.includes(status)) return { status: 'refused' };
    const grant = status === 200 ? reporterGrantSchema.safeParse(jsonIfValid(body)).data : undefined;
    if (grant !== undefined) return { status: 'granted', grant };
    const { message } = (jsonIfValid(body) ?? {}) as { readonly message?: string };
    return { status: 'waiting', waitsFor: `the progress API, which answers ${status}: ${message ?? ''}`.trimEnd() };
  } catch (error) {
    signal.throwIfAborted();
    if (!isError(error, hostErrors.NETWORK)) throw error;
    return { status: 'waiting', waitsFor: `the progress API: ${error.message}` };
  }
}
