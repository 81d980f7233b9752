// The three requests of torcx to the API server, through the connection of src/kubernetes. They go to fixed paths of
// the core API without discovery: a node that joins should depend on as few requests as possible.
import { z } from 'zod';
import { isError } from '../errors/firstlight-error.ts';
import { failureOfAnswer, isTransient } from '../kubernetes/api-failure.ts';
import { type ApiAnswer, type ApiRequest, type Connection, openConnection } from '../kubernetes/connection.ts';
import { kubernetesErrors } from '../kubernetes/errors.ts';
import { retry } from '../workflow/retry.ts';
import type { TorcxContext } from './context.ts';
import { bareReasonOf, reasonOf, retryPolicies, scaled } from './context.ts';

export interface ClusterApi extends Disposable {
  readonly server: string;
  /** `gitVersion` as the server states it. */
  version(): Promise<string>;
  /** One key of a ConfigMap. */
  configMapValue(namespace: string, name: string, key: string): Promise<string>;
  /** Sets one annotation by merge patch: nothing else of the node is sent, so nothing else can be overwritten. */
  annotateNode(name: string, annotation: string, value: string): Promise<void>;
}

const versionAnswer = z.object({ gitVersion: z.string().optional() });
const configMapAnswer = z.object({ data: z.record(z.string(), z.string()).nullish() });

/** Throws a plain Error when the kubeconfig cannot be used. */
export async function openClusterApi(context: TorcxContext): Promise<ClusterApi> {
  const { kubeconfig } = context.settings;
  const proxyVariables = context.host.environment.variables;
  const source = { path: context.at(kubeconfig) };
  const connection = await openConnection(context.host, source, { proxyVariables }).catch((error: unknown) => {
    throw new Error(`kubeconfig ${kubeconfig}: ${bareReasonOf(error)}`, { cause: error });
  });
  return {
    server: connection.server,
    version: async () => {
      const answer = await read(context, connection, { name: '/version', path: '/version' });
      const { gitVersion } = versionAnswer.parse(JSON.parse(answer.text));
      if (gitVersion === undefined || gitVersion === '') throw new Error('it states no gitVersion');
      return gitVersion;
    },
    configMapValue: async (namespace, name, key) => {
      const path = `/api/v1/namespaces/${encodeURIComponent(namespace)}/configmaps/${encodeURIComponent(name)}`;
      const answer = await read(context, connection, { name: `ConfigMap ${namespace}/${name}`, path });
      const value = configMapAnswer.parse(JSON.parse(answer.text)).data?.[key];
      if (value === undefined || value === '') throw new Error(`it has no key ${key}`);
      return value;
    },
    annotateNode: async (name, annotation, value) => {
      const request = {
        what: 'patch it',
        method: 'PATCH',
        path: `/api/v1/nodes/${encodeURIComponent(name)}`,
        body: { metadata: { annotations: { [annotation]: value } } },
        contentType: 'application/merge-patch+json',
      } as const;
      await retryAnnotation(context, () => send(context, connection, request));
    },
    [Symbol.dispose]: () => connection[Symbol.dispose](),
  };
}

type Question = Omit<ApiRequest, 'deadlineMs' | 'signal'>;

async function send(context: TorcxContext, connection: Connection, question: Question): Promise<ApiAnswer> {
  const { settings, signal } = context;
  const answer = await connection.send({ ...question, deadlineMs: settings.apiTimeoutMs, signal });
  if (answer.status >= 200 && answer.status < 300) return answer;
  throw failureOfAnswer(answer, { what: question.what, server: connection.server });
}

/** No answer, overload and a server that is still starting are worth another try; a clear refusal is not. */
async function read(
  context: TorcxContext,
  connection: Connection,
  { name, path }: { readonly name: string; readonly path: string },
): Promise<ApiAnswer> {
  const { host, settings, signal } = context;
  let tries = 0;
  try {
    return await retry(
      {
        host,
        signal,
        policy: scaled(retryPolicies.api, settings),
        isWorthRetrying: isTransient,
        onRetry: (error, number) => context.say('debug', `API server, ${name}, try ${number}: ${reasonOf(error)}`),
      },
      (number) => {
        tries = number;
        return send(context, connection, { what: 'read it', method: 'GET', path });
      },
    );
  } catch (error) {
    signal.throwIfAborted();
    throw tries > 1 ? new Error(`${reasonOf(error)} (${tries} tries)`, { cause: error }) : error;
  }
}

/** A conflict is tried again at once; every other failure that may pass, after a long pause. */
async function retryAnnotation(context: TorcxContext, attempt: () => Promise<unknown>): Promise<void> {
  const { host, settings, signal } = context;
  const isConflict = (error: unknown): boolean => isError(error, kubernetesErrors.CONFLICT);
  const conflicts = { host, signal, policy: retryPolicies.conflict, isWorthRetrying: isConflict };
  const policy = scaled(retryPolicies.annotation, settings);
  const isWorthRetrying = (error: unknown): boolean => isTransient(error) || isConflict(error);
  await retry({ host, signal, policy, isWorthRetrying }, () => retry(conflicts, attempt));
}
