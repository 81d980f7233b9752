// Requests the configuration of this machine exactly as its pointer config makes Ignition do it: same URL, same
// authority, same token. HEAD is answered like GET and issues nothing. The connection goes to the load balancer's
// address, so that a name that does not resolve is not mistaken for a token that is refused.

import { z } from 'zod';
import type { Host } from '../../host/host.ts';
import { jsonIfValid } from '../../host/json-if-valid.ts';
import { decodeDataUrl } from '../../ignition/data-url.ts';
import { firstBootConfigPath } from '../../machine-software/first-boot-unit.ts';
import { failedAttempt } from './failed-attempt.ts';
import type { InsideFacts } from './inside-facts.ts';

const pointerSchema = z.object({
  ignition: z.object({
    config: z.object({
      merge: z.tuple([
        z.object({
          source: z.url(),
          httpHeaders: z.array(z.object({ name: z.string(), value: z.string() })).default([]),
        }),
      ]),
    }),
    security: z
      .object({ tls: z.object({ certificateAuthorities: z.array(z.object({ source: z.string() })).default([]) }) })
      .optional(),
  }),
});

const accept = 'application/vnd.coreos.ignition+json;version=3.5.0, */*;q=0.1';

export async function askAsPointed(host: Host, balancer: string): Promise<InsideFacts['pointer']> {
  const content = await host.files.readIfPresent(firstBootConfigPath);
  if (content === undefined) return undefined;
  const read = pointerSchema.safeParse(jsonIfValid(content));
  if (!read.success) return undefined;
  const { config, security } = read.data.ignition;
  const [{ source: url, httpHeaders }] = config.merge;
  const authorities = (security?.tls.certificateAuthorities ?? []).map(({ source }) => pemOf(source));
  const headers = Object.fromEntries([['accept', accept], ...httpHeaders.map(({ name, value }) => [name, value])]);
  try {
    const { status } = await host.network.request({
      url,
      method: 'HEAD',
      headers,
      ...(authorities.length === 0 ? {} : { ca: authorities.join('\n') }),
      connectTo: { host: balancer, port: Number(new URL(url).port || '443') },
      timeoutMs: 4_000,
    });
    return { url, status };
  } catch (error) {
    return { url, ...failedAttempt(error) };
  }
}

function pemOf(source: string): string {
  const decoded = decodeDataUrl(source);
  return decoded.status === 'decoded' ? Buffer.from(decoded.url.bytes).toString('utf8') : '';
}
