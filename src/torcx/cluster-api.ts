// The three requests this program makes to the API server, built and read by the official client, carried by the host:
// so deadlines, proxies and failures are the same as everywhere. Only the two generated API files are imported; the
// client's index would load every API, a WebSocket stack and an OpenID client for nothing.
import type { HttpAnswer } from '../host/network.ts';
import { proxyFor } from '../host/proxy.ts';
import { isError } from '../errors/firstlight-error.ts';
import { hostErrors } from '../host/errors.ts';
import { retry } from '../workflow/retry.ts';
import type { TorcxContext } from './context.ts';
import { bareReasonOf, reasonOf, retryPolicies, scaled } from './context.ts';
import { type ApiAccess, readKubeconfig, tlsOf } from '../kubernetes/read-kubeconfig.ts';

export interface ClusterApi {
  readonly server: string;
  /** `gitVersion` as the server states it. */
  version(): Promise<string>;
  /** One key of a ConfigMap. */
  configMapValue(namespace: string, name: string, key: string): Promise<string>;
  /** Sets one annotation by merge patch: nothing else of the node is sent, so nothing else can be overwritten. */
  annotateNode(name: string, annotation: string, value: string): Promise<void>;
}

/** An answer that another try will not change, or the last of several failures. */
export class ApiFailure extends Error {
  readonly status: number | undefined;
  constructor(message: string, status: number | undefined, cause?: unknown) {
    super(message, { cause });
    this.status = status;
  }
}

interface GeneratedRequest {
  getUrl(): string;
  getHttpMethod(): string;
  getHeaders(): Record<string, string>;
  getBody(): unknown;
}

/** Throws ApiFailure when the kubeconfig cannot be used. */
export async function openClusterApi(context: TorcxContext): Promise<ClusterApi> {
  const path = context.at(context.settings.kubeconfig);
  const access = await readKubeconfig(context.host.files, path).catch((error: unknown) => {
    throw new ApiFailure(`kubeconfig ${context.settings.kubeconfig}: ${bareReasonOf(error)}`, undefined, error);
  });
  const gen = await generatedClient(access);
  const send = (request: GeneratedRequest) => exchange(context, access, request);
  return {
    server: access.server,
    version: async () => {
      const request = await gen.versions.getCode();
      // The generated path ends in a slash; the documented one does not.
      request.setUrl(request.getUrl().replace(/\/version\/$/, '/version'));
      const answer = await patiently(context, '/version', () => send(request));
      const { gitVersion } = await gen.readVersion(answer);
      if (typeof gitVersion !== 'string' || gitVersion === '') throw new ApiFailure('it states no gitVersion', 200);
      return gitVersion;
    },
    configMapValue: async (namespace, name, key) => {
      const request = await gen.core.readNamespacedConfigMap(name, namespace);
      const answer = await patiently(context, `ConfigMap ${namespace}/${name}`, () => send(request));
      const value = (await gen.readConfigMap(answer)).data?.[key];
      if (value === undefined || value === '') throw new ApiFailure(`it has no key ${key}`, 200);
      return value;
    },
    annotateNode: async (name, annotation, value) => {
      const request = await gen.core.patchNode(name, { metadata: { annotations: { [annotation]: value } } });
      request.setHeaderParam('Content-Type', 'application/merge-patch+json');
      await annotatePatiently(context, () => send(request));
    },
  };
}

async function generatedClient(access: ApiAccess) {
  const [core, versions, servers, http] = await Promise.all([
    import('@kubernetes/client-node/dist/gen/apis/CoreV1Api.js'),
    import('@kubernetes/client-node/dist/gen/apis/VersionApi.js'),
    import('@kubernetes/client-node/dist/gen/servers.js'),
    import('@kubernetes/client-node/dist/gen/http/http.js'),
  ]);
  const { authorization } = access;
  const configuration = {
    baseServer: new servers.ServerConfiguration(access.server, {}),
    middleware: [],
    httpApi: { send: () => unused() },
    authMethods: {
      default: {
        getName: () => 'kubeconfig',
        applySecurityAuthentication: (request: { setHeaderParam(key: string, value: string): void }) => {
          if (authorization !== undefined) request.setHeaderParam('Authorization', authorization.reveal());
        },
      },
    },
  };
  const response = ({ status, headers, body }: HttpAnswer) =>
    new http.ResponseContext(status, { ...headers }, new http.SelfDecodingBody(Promise.resolve(Buffer.from(body))));
  const processors = {
    core: new core.CoreV1ApiResponseProcessor(),
    version: new versions.VersionApiResponseProcessor(),
  };
  return {
    core: new core.CoreV1ApiRequestFactory(configuration),
    versions: new versions.VersionApiRequestFactory(configuration),
    readVersion: async (answer: HttpAnswer) => (await processors.version.getCodeWithHttpInfo(response(answer))).data,
    readConfigMap: async (answer: HttpAnswer) =>
      (await processors.core.readNamespacedConfigMapWithHttpInfo(response(answer))).data,
  };
}

function unused(): never {
  throw new Error('requests are carried by the host');
}

async function exchange(context: TorcxContext, access: ApiAccess, request: GeneratedRequest): Promise<HttpAnswer> {
  const url = request.getUrl();
  const proxy = access.proxy ?? proxyFor(url, context.host.environment.variables);
  const body = request.getBody();
  const answer = await context.host.network.request({
    url,
    method: request.getHttpMethod(),
    headers: request.getHeaders(),
    timeoutMs: context.settings.apiTimeoutMs,
    maxBytes: 4 * 1024 * 1024,
    signal: context.signal,
    ...tlsOf(access),
    ...(typeof body === 'string' ? { body } : {}),
    ...(proxy === undefined ? {} : { proxy }),
  });
  if (answer.status < 200 || answer.status > 299) throw new ApiFailure(`HTTP ${answer.status}`, answer.status);
  return answer;
}

/** Silence, overload and a server that is still starting are worth another try; a clear no is not. */
function isTransient(error: unknown): boolean {
  if (error instanceof ApiFailure) return error.status !== undefined && isTransientStatus(error.status);
  return isError(error, hostErrors.NETWORK);
}

export function isTransientStatus(status: number): boolean {
  return status === 408 || status === 429 || status >= 500;
}

async function patiently(context: TorcxContext, what: string, attempt: () => Promise<HttpAnswer>): Promise<HttpAnswer> {
  const { host, settings, signal } = context;
  let tries = 0;
  try {
    return await retry(
      {
        host,
        signal,
        policy: scaled(retryPolicies.api, settings),
        isWorthRetrying: isTransient,
        onRetry: (error, number) => context.say('debug', `API server, ${what}, try ${number}: ${reasonOf(error)}`),
      },
      (number) => {
        tries = number;
        return attempt();
      },
    );
  } catch (error) {
    signal.throwIfAborted();
    const count = tries > 1 ? ` (${tries} tries)` : '';
    throw new ApiFailure(`${reasonOf(error)}${count}`, error instanceof ApiFailure ? error.status : undefined, error);
  }
}

/** Conflicts are answered at once, everything else that may pass with long pauses. */
async function annotatePatiently(context: TorcxContext, attempt: () => Promise<HttpAnswer>): Promise<void> {
  const { host, settings, signal } = context;
  const isConflict = (error: unknown) => error instanceof ApiFailure && error.status === 409;
  const conflicts = { host, signal, policy: retryPolicies.conflict, isWorthRetrying: isConflict };
  const policy = scaled(retryPolicies.annotation, settings);
  const isWorthRetrying = (error: unknown) => isTransient(error) || isConflict(error);
  await retry({ host, signal, policy, isWorthRetrying }, () => retry(conflicts, attempt));
}
