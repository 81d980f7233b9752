// The routes of the in-place bootstrapper on the port of a master's config server. They are loaded, and their watch
// begins, with the first request to them: a server that nobody asks for them stays as small as it was.
import type { Host } from '../host/host.ts';
import type { ServingPair } from '../host/https-server.ts';
import type { ProgressRoutes } from '../in-place/reporting/progress-routes.ts';
import type { KubernetesClient } from '../kubernetes/client.ts';
import type { ConfigSource } from './config-source.ts';
import type { Handler } from './handler.ts';
import { RateLimit } from './rate-limit.ts';
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
  return (_server) => {
    const open = async (): Promise<ProgressRoutes> => {
      const { progressRoutes } = await import('../in-place/reporting/progress-routes.ts');
      const routes = progressRoutes(host, {
        client: options.client,
        lookUps: new RateLimit(host.clock, lookUpRate),
        makePayload: async () => ({ refusal: 'payload-not-ready', reason: 'it is not built yet' }),
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
