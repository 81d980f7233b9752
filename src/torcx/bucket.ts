// The remote bucket: small signed documents and large images over HTTP(S). It is the only source without a fallback,
// so resets, broken bodies, timeouts, 408, 429 and 5xx are retried; every other answer is final.
import { isError } from '../errors/firstlight-error.ts';
import { hostErrors } from '../host/errors.ts';
import type { HttpHead, HttpRequest, HttpStream } from '../host/network.ts';
import { proxyFor } from '../host/proxy-variables.ts';
import { retry } from '../workflow/retry.ts';
import type { TorcxContext } from './context.ts';
import { reasonOf, retryPolicies, scaled } from './context.ts';
import { torcxErrors } from './errors.ts';

const redirectsMax = 10;

export interface Bucket {
  /** A whole small document. */
  read(url: string, maxBytes: number): Promise<Uint8Array>;
  /** Gives the body of a 200 to `take`, which must keep no chunk. A retry starts again with the first byte. */
  stream(url: string, take: (body: AsyncIterable<Uint8Array>) => Promise<void>): Promise<void>;
}

export async function openBucket(context: TorcxContext): Promise<Bucket> {
  const ca = await readAuthorities(context);
  const request = (url: string): HttpRequest => {
    const proxy = proxyFor(url, context.host.environment.variables);
    return {
      url,
      timeoutMs: context.settings.bucketTimeoutMs,
      idleMs: context.settings.bucketTimeoutMs,
      signal: context.signal,
      ...(ca === undefined ? {} : { ca }),
      ...(proxy === undefined ? {} : { proxy }),
    };
  };
  return {
    read: (url, maxBytes) => retried(context, url, async () => collect(await follow(context, url, request), maxBytes)),
    stream: (url, take) => {
      const large = (at: string): HttpRequest => ({ ...request(at), releasesChunks: true });
      return retried(context, url, async () => take((await follow(context, url, large)).body));
    },
  };
}

/** The certificate authorities of the node: only they include the one of a proxy that re-encrypts. */
async function readAuthorities({ host, settings, at }: TorcxContext): Promise<string | undefined> {
  const content = await host.files.readIfPresent(at(settings.caFile));
  return content === undefined ? undefined : Buffer.from(content).toString('utf8');
}

async function follow({ host }: TorcxContext, url: string, request: (url: string) => HttpRequest): Promise<HttpStream> {
  let at = url;
  for (let hops = 0; hops <= redirectsMax; hops += 1) {
    const answer = await host.network.open(request(at));
    if (answer.status === 200) return answer;
    await discard(answer);
    const next = redirectTarget(at, answer);
    if (next === undefined) throw torcxErrors.BUCKET({ url, reason: `HTTP ${answer.status}`, status: answer.status });
    if (at.startsWith('https:') && !next.startsWith('https:')) {
      throw torcxErrors.BUCKET({ url, reason: `it redirects from https to ${next}` });
    }
    at = next;
  }
  throw torcxErrors.BUCKET({ url, reason: `more than ${redirectsMax} redirects` });
}

function redirectTarget(from: string, { status, headers }: HttpHead): string | undefined {
  const location = headers['location'];
  if (![301, 302, 303, 307, 308].includes(status) || location === undefined) return undefined;
  return URL.canParse(location, from) ? new URL(location, from).href : undefined;
}

/** Ends an answer without reading its body: leaving the loop closes the connection. */
async function discard(answer: HttpStream): Promise<void> {
  for await (const _chunk of answer.body) break;
}

async function collect(answer: HttpStream, maxBytes: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let sizeBytes = 0;
  for await (const chunk of answer.body) {
    sizeBytes += chunk.length;
    if (sizeBytes > maxBytes) throw new Error(`it is larger than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function isTransient(error: unknown): boolean {
  if (isError(error, hostErrors.NETWORK)) return error.details.failure !== 'tls';
  const status = isError(error, torcxErrors.BUCKET) ? error.details.status : undefined;
  return status !== undefined && (status === 408 || status === 429 || status >= 500);
}

async function retried<T>(context: TorcxContext, url: string, attempt: () => Promise<T>): Promise<T> {
  const { host, settings, signal } = context;
  try {
    return await retry(
      {
        host,
        signal,
        policy: scaled(retryPolicies.bucket, settings),
        isWorthRetrying: isTransient,
        onRetry: (error, number, pauseMs) =>
          context.say('warn', `${reasonOf(error)}; try ${number + 1} in ${(pauseMs / 1000).toFixed(1)} s`),
      },
      attempt,
    );
  } catch (error) {
    signal.throwIfAborted();
    if (!isError(error, hostErrors.NETWORK)) throw error;
    throw torcxErrors.BUCKET({ url, reason: error.details.reason }, { cause: error });
  }
}
