// The routes of the in-place bootstrapper on the port of a master's config server. They are loaded, and their watch
// begins, with the first request to them: a server that nobody asks for them stays as small as it was.
import { FirstlightError } from '../errors/firstlight-error.ts';
import type { Host } from '../host/host.ts';
import type { ServingPair } from '../host/https-server.ts';
import { Secret } from '../host/secret.ts';
import type { MadePayload, WantedPayload } from '../in-place/reporting/progress-request.ts';
import type { ProgressRoutes } from '../in-place/reporting/progress-routes.ts';
import type { KubernetesClient } from '../kubernetes/client.ts';
import { type ConfigSource, isServed } from './config-source.ts';
import type { Handler } from './handler.ts';
import { RateLimit } from './rate-limit.ts';
import { filesForOneMachine } from './served-config.ts';
import type { TokenIssuer } from './token-issuer.ts';

/** What the server knows of itself. */
export interface AskedServer {
  readonly pair: () => ServingPair;
  readonly knowsAddresses: boolean;
}

export type InPlaceService = (server: AskedServer) => Handler;

export interface InPlaceServiceOptions {
  readonly client: KubernetesClient;
  readonly source: ConfigSource;
  readonly issuer: TokenIssuer;
  readonly onProblem: (problem: string) => void;
  /** Where the watch is closed. */
  readonly parts: AsyncDisposableStack;
  /** When it is aborted, the server is about to stop. */
  readonly signal: AbortSignal;
}

/**
 * Of requests that cost the API one: grants, payloads, and tokens that are not known here. Many machines may stand
 * behind one address.
 */
const lookUpRate = { burst: 30, everyMs: 1_000 };

export function inPlaceService(host: Host, options: InPlaceServiceOptions): InPlaceService {
  return (server) => {
    const open = async (): Promise<ProgressRoutes> => {
      const { progressRoutes } = await import('../in-place/reporting/progress-routes.ts');
      const routes = progressRoutes(host, {
        client: options.client,
        lookUps: new RateLimit(host.clock, lookUpRate),
        makePayload: (wanted) => makePayload(host, { ...options, ...server }, wanted),
        onTrouble: ({ message }) => options.onProblem(message),
        signal: options.signal,
      });
      return options.parts.use(routes);
    };
    let opening: Promise<ProgressRoutes> | undefined;
    return async (request) => {
      opening ??= open();
      const { answer, decision } = await (await opening).handle(request);
      return { answer, decision: { route: 'in-place', ...decision } };
    };
  };
}

/** As an Ignition config is served: from the rendered one of the pool, with a token that was recorded before. */
async function makePayload(
  host: Host,
  { source, issuer, pair, knowsAddresses }: InPlaceServiceOptions & AskedServer,
  { ids, pool, config: named, address }: WantedPayload,
): Promise<MadePayload> {
  const served = named === undefined ? source.current().pools.get(pool) : source.named(pool, named);
  const notReady = (reason: string): MadePayload => ({ refusal: 'payload-not-ready', reason });
  if (!isServed(served))
    return notReady(served?.missing ?? `pool ${pool} has no rendered configuration ${named ?? ''}`);
  const config = served.machineConfig.metadata.name;
  const issued = await issuer.issue({ pool, config, ...(knowsAddresses ? { issuedTo: address } : {}) });
  if ('status' in issued) return notReady(`${issued.limit} tokens are outstanding`);
  const { certificatePem, keyPem } = pair();
  const { buildPayload } = await import('../in-place/payload/build-payload.ts');
  try {
    const archive = await buildPayload({
      ids,
      pool,
      machineConfig: served.machineConfig,
      addedFiles: filesForOneMachine(served, issued.token),
      signer: { certificatePem, keyPem: new Secret(keyPem) },
      now: host.clock.now(),
    });
    return { archive, config, tokenId: issued.id };
  } catch (error) {
    if (!(error instanceof FirstlightError)) throw error;
    return { refusal: 'payload-impossible', reason: error.message };
  }
}
