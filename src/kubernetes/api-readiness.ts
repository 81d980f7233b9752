// Whether an API server says that it is ready, asked directly and not through the load balancer.
import { isError } from '../errors/firstlight-error.ts';
import { hostErrors } from '../host/errors.ts';
import type { HttpClient } from '../host/network.ts';
import type { Observation } from '../workflow/wait.ts';
import { waitingFor } from '../contract/missing.ts';

export async function apiReadiness(
  { network }: { readonly network: Pick<HttpClient, 'request'> },
  { url, ca }: { readonly url: string; readonly ca: string },
): Promise<Observation<true>> {
  const key = `kube-apiserver at ${url} to be ready`;
  try {
    const { status } = await network.request({ url: `${url}/readyz`, ca, timeoutMs: 1_000 });
    if (status === 200) return { status: 'ready', value: true };
    return {
      status: 'waiting',
      missing: [waitingFor(`kube-apiserver at ${url}`, `to be ready; it answers ${status}`, { key })],
    };
  } catch (error) {
    if (!isError(error, hostErrors.NETWORK)) throw error;
    return {
      status: 'waiting',
      missing: [waitingFor(`kube-apiserver at ${url}`, '', { detail: error.details.reason, key })],
    };
  }
}
