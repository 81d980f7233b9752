// The request for the Ignition config of a node, from its Secret. Preflight asks as the attempt will ask.
import { type AttemptSecret, attemptProxyVariables, targetHeaders } from '../contract/in-place.ts';
import type { HttpRequest } from '../host/network.ts';
import { proxyFor } from '../host/proxy-variables.ts';

/** As Ignition 2.14 and newer ask. */
const accept = 'application/vnd.coreos.ignition+json;version=3.4.0, */*;q=0.1';

export const payloadBytesMax = 64 * 2 ** 20;

export function ignitionRequest(secret: AttemptSecret): HttpRequest {
  const url = secret['ignition-url'] ?? '';
  const [token = '', pool, hash] = [secret['ignition-token'], secret['node-pool'], secret['target-hash']];
  return {
    url,
    headers: {
      accept,
      authorization: `Bearer ${bearerOf(token)}`,
      ...(pool === undefined ? {} : { [targetHeaders.pool]: pool }),
      ...(hash === undefined ? {} : { [targetHeaders.hash]: hash }),
    },
    ...(secret['ignition-ca.crt'] === undefined ? {} : { ca: secret['ignition-ca.crt'] }),
    ...proxyOf(secret.proxy, url),
    maxBytes: payloadBytesMax,
  };
}

/** Our tokens are shown as they are; any other server wants base64, as its pointer configs do. */
function bearerOf(token: string): string {
  return token.startsWith('flp_') ? token : Buffer.from(token).toString('base64');
}

function proxyOf(proxy: string | undefined, url: string): Pick<HttpRequest, 'proxy'> {
  const found = URL.canParse(url) ? proxyFor(url, attemptProxyVariables(proxy)) : undefined;
  return found === undefined ? {} : { proxy: found };
}
