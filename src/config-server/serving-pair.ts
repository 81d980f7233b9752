// The server's certificate and key, followed on the disk: a new pair is used for new connections, a bad one is reported
// and the pair in use is kept. Only at the start is a bad pair an error.
import { dirname } from 'node:path';
import { pairMistake } from '../control-plane/master-keys.ts';
import type { Files } from '../host/files.ts';
import type { Host } from '../host/host.ts';
import type { ServingPair } from '../host/https-server.ts';
import { type Certificate, readCertificate } from '../pki/certificate.ts';
import { validityAt } from '../pki/chain.ts';
import { configServerErrors } from './errors.ts';
import { followFiles } from './follow-files.ts';

export interface PairPaths {
  readonly certificatePath: string;
  readonly keyPath: string;
}

export interface ReadPair {
  readonly pair: ServingPair;
  readonly certificate: Certificate;
}

/** Throws CONFIGSERVER_PAIR. */
export async function readServingPair(files: Files, paths: PairPaths): Promise<ReadPair> {
  const [certificate, key] = await Promise.all(
    [paths.certificatePath, paths.keyPath].map((path) => files.readIfPresent(path)),
  );
  const problem = (reason: string): Error => configServerErrors.PAIR({ ...paths, reason });
  if (certificate === undefined) throw problem('the certificate is not there');
  if (key === undefined) throw problem('the key is not there');
  const pair = { certificatePem: Buffer.from(certificate).toString(), keyPem: Buffer.from(key).toString() };
  const mistake = pairMistake(pair.certificatePem, pair.keyPem);
  if (mistake !== undefined) throw problem(mistake);
  return { pair, certificate: readCertificate(pair.certificatePem) };
}

/** Why clients refuse this certificate now; undefined while it is valid. */
export function certificateTrouble(certificate: Certificate, now: Date): string | undefined {
  const { status } = validityAt(certificate, now);
  if (status === 'expired') return `the certificate expired at ${certificate.notAfter.toISOString()}`;
  if (status === 'not-yet-valid') return `the certificate is valid only from ${certificate.notBefore.toISOString()}`;
  return undefined;
}

export interface FollowedPair extends AsyncDisposable {
  current(): ReadPair;
}

export interface FollowPairOptions extends PairPaths {
  readonly onReplaced: (read: ReadPair) => void;
  /** Called for a pair that cannot be used; the one in use is kept. */
  readonly onProblem: (problem: string) => void;
}

export async function followServingPair(host: Host, options: FollowPairOptions): Promise<FollowedPair> {
  let read = await readServingPair(host.files, options);
  let reported = '';
  const look = async (): Promise<void> => {
    try {
      const next = await readServingPair(host.files, options);
      reported = '';
      if (next.pair.certificatePem === read.pair.certificatePem && next.pair.keyPem === read.pair.keyPem) return;
      read = next;
      options.onReplaced(next);
    } catch (error) {
      const problem = error instanceof Error ? error.message : String(error);
      if (problem !== reported) options.onProblem(problem);
      reported = problem;
    }
  };
  const folders = [options.certificatePath, options.keyPath].map((path) => dirname(path));
  const following = await followFiles(host, { folders, look });
  return { current: () => read, [Symbol.asyncDispose]: () => following[Symbol.asyncDispose]() };
}
