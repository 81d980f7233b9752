// What a failed connection's code means, in one table for everybody who opens one: our client and the libraries' clients.
import type { NetworkFailure } from './network.ts';

const failures: Readonly<Record<string, readonly [NetworkFailure, string]>> = {
  ENOTFOUND: ['dns', 'the name does not resolve'],
  EAI_AGAIN: ['dns', 'the name server does not answer'],
  ECONNREFUSED: ['refused', 'connection refused'],
  EHOSTUNREACH: ['unreachable', 'no route to the host'],
  ENETUNREACH: ['unreachable', 'no route to the network'],
  ETIMEDOUT: ['timeout', 'the connection timed out'],
  ECONNRESET: ['reset', 'the connection was reset'],
  EPIPE: ['reset', 'the connection was closed'],
};

const tlsCodes = /^(ERR_TLS|ERR_SSL|CERT_|UNABLE_|DEPTH_|SELF_SIGNED|EPROTO|HOSTNAME_MISMATCH)/;

/** The kind of failure and a sentence for it; `message` where the code is not one of ours. */
export function networkFailureOf(code: string, message: string): readonly [NetworkFailure, string] {
  return failures[code] ?? [tlsCodes.test(code) ? 'tls' : 'protocol', message];
}
