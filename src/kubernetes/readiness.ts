// Whether a server says that it is ready: 200 on /readyz or /healthz, asked directly and not through the load balancer.
// What is missing otherwise is said in the words of the caller.
import { waitingFor } from '../contract/missing.ts';
import { isError } from '../errors/firstlight-error.ts';
import { hostErrors } from '../host/errors.ts';
import type { HttpClient, HttpRequest } from '../host/network.ts';
import type { Observation } from '../workflow/wait.ts';

export interface ReadinessProbe {
  /** As people call the server. */
  readonly name: string;
  readonly request: HttpRequest & { readonly timeoutMs: number };
  /** What is said of a server that answers anything but 200. Default: `answers 503`. */
  readonly refusal?: (status: number) => string;
  /** Identifies the wait, whatever the server answers. Default: each answer is another state. */
  readonly key?: string;
}

interface Asking {
  readonly network: Pick<HttpClient, 'request'>;
}

export async function askReadiness({ network }: Asking, probe: ReadinessProbe): Promise<Observation<true>> {
  const { name, request, refusal = (status) => `answers ${status}` } = probe;
  const key = probe.key === undefined ? {} : { key: probe.key };
  try {
    const { status } = await network.request(request);
    if (status === 200) return { status: 'ready', value: true };
    return { status: 'waiting', missing: [waitingFor(name, refusal(status), key)] };
  } catch (error) {
    if (!isError(error, hostErrors.NETWORK)) throw error;
    return { status: 'waiting', missing: [waitingFor(name, '', { detail: error.details.reason, ...key })] };
  }
}

/** One API server, as the agents of masters ask it: often, so they do not wait long for an answer. */
export async function apiReadiness(
  asking: Asking,
  { url, ca }: { readonly url: string; readonly ca: string },
): Promise<Observation<true>> {
  const name = `kube-apiserver at ${url}`;
  return askReadiness(asking, {
    name,
    request: { url: `${url}/readyz`, ca, timeoutMs: 1_000 },
    refusal: (status) => `to be ready; it answers ${status}`,
    key: `${name} to be ready`,
  });
}
