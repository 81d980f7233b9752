// The errors of the Kubernetes API and of the connection to it. Callers branch on the row (`isError`), never on a
// status number.
import { exitCodes } from '../errors/exit-codes.ts';
import { errorTable } from '../errors/firstlight-error.ts';
import type { NetworkFailure } from '../host/network.ts';

interface Refusal {
  /** What was asked, such as `create ConfigMap kube-system/bootstrap`. */
  readonly what: string;
  readonly server: string;
  /** The server's own sentence. */
  readonly reason: string;
}

const refused = (e: Refusal): string => `cannot ${e.what}: ${e.reason}`;

export const kubernetesErrors = errorTable('KUBERNETES', {
  KUBECONFIG: {
    message: (e: { source: string; reason: string }) => `${e.source} is not a usable kubeconfig: ${e.reason}`,
    hint: 'kubectl config view --kubeconfig FILE shows what it holds; firstlight kubeconfig names the one of the cluster.',
    means: 'The file is not YAML, or its current context names no cluster.',
    exit: exitCodes.badConfig,
  },
  UNREACHABLE: {
    message: (e: Refusal & { failure: NetworkFailure }) => `cannot ${e.what}: ${e.server}: ${e.reason}`,
    hint: 'Check that the API server runs and that the load balancer, its name and its port are reachable from here.',
    means:
      'No answer came from the API server. The details say whether the name, the connection or the certificate was the cause.',
    exit: exitCodes.infrastructure,
  },
  TIMEOUT: {
    message: (e: Refusal) => `cannot ${e.what}: ${e.server} ${e.reason}`,
    hint: 'Run the same command again. If it stays so, the API server is overloaded or its etcd has lost its quorum.',
    means: 'The API server accepted the request but did not answer it in time.',
    exit: exitCodes.infrastructure,
  },
  UNAVAILABLE: {
    message: refused,
    hint: 'The API server is starting, stopping or has lost its etcd. Run the same command again.',
    means: 'The API server answered with an error of its own (5xx).',
    exit: exitCodes.infrastructure,
  },
  TOO_MANY_REQUESTS: {
    message: (e: Refusal & { retryAfterSeconds: number | undefined }) => refused(e),
    hint: 'The API server sheds load. Run the same command again in a moment.',
    means: 'Priority and fairness of the API server turned the request away; it says after how long to come back.',
    exit: exitCodes.infrastructure,
  },
  UNAUTHORIZED: {
    message: refused,
    hint: 'The credential of the kubeconfig is not accepted: it expired, was deleted, or belongs to another cluster.',
    means: 'The API server does not know who we are (401).',
    exit: exitCodes.infrastructure,
  },
  FORBIDDEN: {
    message: refused,
    hint: 'kubectl auth can-i --list shows what this identity may do; the binding it needs is missing or not yet in force.',
    means: 'The API server knows who we are and does not allow it (403). Also while a namespace is being deleted.',
    exit: exitCodes.infrastructure,
  },
  NOT_FOUND: {
    message: refused,
    hint: 'kubectl get with the same name and namespace shows what there is.',
    means: 'The object, or the namespace it should be in, does not exist (404).',
    exit: exitCodes.other,
  },
  NO_SUCH_KIND: {
    message: (e: { apiVersion: string; kind: string; server: string }) =>
      `the API server ${e.server} does not know ${e.kind} of ${e.apiVersion}`,
    hint: 'kubectl api-resources lists what it knows. The CustomResourceDefinition is missing or not established yet.',
    means: 'The kind of an object is not served in that version.',
    exit: exitCodes.other,
  },
  ALREADY_EXISTS: {
    message: refused,
    hint: 'An object of that name was made before; it was left as it is.',
    means: 'Creating found the name taken (409, AlreadyExists).',
    exit: exitCodes.other,
  },
  CONFLICT: {
    message: refused,
    hint: 'Somebody else changed the object at the same moment. Run the same command again.',
    means: 'The change was based on an older version of the object, or touches fields of another manager (409).',
    exit: exitCodes.other,
  },
  EXPIRED: {
    message: refused,
    hint: 'List again and continue from there.',
    means: 'The resource version is older than what the API server remembers (410).',
    exit: exitCodes.other,
  },
  INVALID: {
    message: refused,
    hint: 'The message names the field. Correct the manifest and run the same command again.',
    means: 'The API server understood the request and found the object wrong (400, 413, 415, 422).',
    exit: exitCodes.badConfig,
  },
});
