// The progress APIs and the API of the new configuration, as this host reaches them.
import {
  type AttemptSettings,
  attemptPath,
  attemptProxyVariables,
  inPlaceSystems,
  type ProgressEvent,
  progressPath,
} from '../../contract/in-place.ts';
import { bootIdFile } from '../../contract/machine-paths.ts';
import { FirstlightError } from '../../errors/firstlight-error.ts';
import type { Host } from '../../host/host.ts';
import { jsonIfValid } from '../../host/json-if-valid.ts';
import type { HttpRequest } from '../../host/network.ts';
import { proxyFor } from '../../host/proxy-variables.ts';
import { openConnection } from '../../kubernetes/connection.ts';
import type { JoinApiFacts, ReportFacts } from './facts.ts';
import { reached } from './reached.ts';

const timeoutMs = 10_000;

/** By an event that the server has already, or would take in its turn: no report is changed by it. */
export async function lookAtReports(
  host: Host,
  settings: AttemptSettings,
  signal: AbortSignal,
): Promise<readonly ReportFacts[]> {
  const { facts, grant, node, attemptId, lastSeq } = settings;
  const { 'report-url': foreignUrl, 'report-token': foreignToken, 'report-ca.crt': foreignCa, proxy } = grant.secret;
  const body = JSON.stringify(await probeEvent(host, settings));
  const post = (token: string): Pick<HttpRequest, 'method' | 'headers' | 'body'> => ({
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body,
  });
  const ask = async (request: HttpRequest, isOwn: boolean): Promise<ReportFacts> => {
    const answer = await reached(async () => (await host.network.request({ ...request, timeoutMs, signal })).status);
    return { url: request.url, isOwn, answer };
  };
  const ids = [facts.clusterId, node, attemptId] as const;
  const own: HttpRequest =
    lastSeq === 0
      ? { url: facts.serviceUrl + attemptPath(...ids), headers: { authorization: `Bearer ${grant.token}` } }
      : { url: facts.serviceUrl + progressPath(...ids), ...post(grant.token) };
  const found = [await ask({ ...own, ca: facts.serviceCa }, true)];
  if (foreignUrl === undefined || !URL.canParse(foreignUrl)) return found;
  const cluster = grant.secret['cluster-id'] ?? facts.clusterId;
  const url = foreignUrl.replace(/\/+$/, '') + progressPath(cluster, node, attemptId);
  const through = proxyFor(url, attemptProxyVariables(proxy));
  const foreign: HttpRequest = {
    url,
    ...post(foreignToken ?? ''),
    ...(foreignCa === undefined ? {} : { ca: foreignCa }),
    ...(through === undefined ? {} : { proxy: through }),
  };
  return [...found, await ask(foreign, false)];
}

async function probeEvent(host: Host, { grant, lastSeq }: AttemptSettings): Promise<ProgressEvent> {
  const bootId = await host.files.readIfPresent(bootIdFile);
  return {
    seq: Math.max(1, lastSeq),
    phase: 'Preflight',
    step: 'P13',
    status: 'progress',
    message: 'whether reports are accepted',
    bootId: Buffer.from(bootId ?? '')
      .toString('utf8')
      .trim(),
    at: host.clock.now().toISOString(),
    os: inPlaceSystems.find((name) => name === grant.secret.os) ?? 'rhcos',
    agentVersion: 'preflight',
  };
}

const reviewPath = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews';
const csrRight = { group: 'certificates.k8s.io', resource: 'certificatesigningrequests', verb: 'create' };

/** Whether the token of a kubeconfig may ask for a certificate; no request is made for that. */
export async function lookAtApi(host: Host, kubeconfig: string, signal: AbortSignal): Promise<JoinApiFacts> {
  try {
    using connection = await openConnection(host, { text: kubeconfig });
    const review = {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SelfSubjectAccessReview',
      spec: { resourceAttributes: csrRight },
    };
    return { url: connection.server, problem: await problemWith(connection, review, signal) };
  } catch (error) {
    if (error instanceof FirstlightError) return { url: 'unknown', problem: error.message };
    throw error;
  }
}

async function problemWith(
  connection: Awaited<ReturnType<typeof openConnection>>,
  body: object,
  signal: AbortSignal,
): Promise<string | undefined> {
  try {
    const what = 'ask whether the machine may request a certificate';
    const asked = { what, method: 'POST', path: reviewPath, body, deadlineMs: timeoutMs, signal } as const;
    const { status, text } = await connection.send(asked);
    if (status !== 201 && status !== 200) return `HTTP ${status}`;
    const { status: answer } = (jsonIfValid(text) ?? {}) as { readonly status?: { readonly allowed?: boolean } };
    return answer?.allowed === true ? undefined : 'the token of the payload may not ask for a certificate';
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof FirstlightError) return error.message;
    throw error;
  }
}
