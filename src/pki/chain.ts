// Facts about existing certificates: which signer signed it, which key belongs to it, how long it is valid, and whether
// it must be issued anew. Pure functions; the caller gives the time.
import { X509Certificate } from 'node:crypto';
import { canonicalAddress } from '../contract/addresses.ts';
import { type Certificate, readBundle } from './certificate.ts';
import { type Credential, type LeafContents, purposeUsages } from './issue.ts';
import type { KeyPair } from './key.ts';

export type Validity =
  | { readonly status: 'not-yet-valid'; readonly startsInMs: number }
  /** `used` is the part of its life that has passed, from 0 to 1. */
  | { readonly status: 'valid'; readonly remainingMs: number; readonly used: number }
  | { readonly status: 'expired'; readonly sinceMs: number };

/** The part of a certificate's life after which it is renewed: two failed attempts still leave weeks of a year. */
export const renewalPoint = 0.7;
/**
 * It is renewed at the latest this long before its end: components of Kubernetes read the files of their client
 * certificates every five minutes, and the old certificate must not end before they have read the new one.
 */
const uptakeMs = 6 * 60_000;

export function validityAt(certificate: Certificate, now: Date): Validity {
  const [start, end, at] = [certificate.notBefore, certificate.notAfter, now].map((date) => date.getTime()) as Times;
  if (at < start) return { status: 'not-yet-valid', startsInMs: start - at };
  // RFC 5280 §4.1.2.5: notAfter itself still belongs to the period.
  if (at > end) return { status: 'expired', sinceMs: at - end };
  return { status: 'valid', remainingMs: end - at, used: end === start ? 1 : (at - start) / (end - start) };
}

type Times = [number, number, number];

export function needsRenewal(certificate: Certificate, now: Date, point: number = renewalPoint): boolean {
  const validity = validityAt(certificate, now);
  return validity.status === 'expired' || (validity.status === 'valid' && isDue(validity, point));
}

function isDue({ used, remainingMs }: Extract<Validity, { status: 'valid' }>, point: number): boolean {
  return used >= point || remainingMs < uptakeMs;
}

/** True when `signer` is a CA whose key signed `certificate`. Says nothing about time. */
export function isSignedBy(certificate: Certificate, signer: Certificate): boolean {
  if (!signer.isCa) return false;
  const child = new X509Certificate(certificate.pem);
  const parent = new X509Certificate(signer.pem);
  return child.checkIssued(parent) && child.verify(parent.publicKey);
}

/** The certificate of `bundlePem` that signed this one. */
export function signerIn(bundlePem: string, certificate: Certificate): Certificate | undefined {
  return readBundle(bundlePem).find((candidate) => isSignedBy(certificate, candidate));
}

export function keyMatches(key: KeyPair, certificate: Certificate): boolean {
  return key.publicPem === certificate.publicPem;
}

export interface WantedCredential {
  readonly contents: LeafContents;
  /** The certificates of the signers that may have signed it. */
  readonly signerBundlePem: string;
  readonly now: Date;
}

/** Why this credential must be issued anew, one sentence each; empty when it is what we want. */
export function reissueReasons(credential: Credential, wanted: WantedCredential): string[] {
  const [certificate] = readBundle(credential.certificatePem);
  if (certificate === undefined) return ['there is no certificate'];
  const reasons: string[] = [];
  if (!keyMatches(credential.key, certificate)) reasons.push('the key belongs to another certificate');
  if (signerIn(wanted.signerBundlePem, certificate) === undefined) {
    reasons.push(`${certificate.issuerText} signed it, which is not our signer`);
  }
  return [...reasons, ...lifeReasons(certificate, wanted.now), ...contentReasons(certificate, wanted.contents)];
}

function lifeReasons(certificate: Certificate, now: Date): string[] {
  const validity = validityAt(certificate, now);
  if (validity.status === 'expired') return [`it expired at ${certificate.notAfter.toISOString()}`];
  if (validity.status === 'not-yet-valid') return [`it is valid only from ${certificate.notBefore.toISOString()}`];
  if (!isDue(validity, renewalPoint)) return [];
  return [
    `${Math.floor(validity.used * 100)} % of its life has passed; it expires at ${certificate.notAfter.toISOString()}`,
  ];
}

function contentReasons(certificate: Certificate, contents: LeafContents): string[] {
  const { subject } = certificate;
  const pairs: [string, readonly string[], readonly string[]][] = [
    ['common name', [subject.commonName], [contents.subject.commonName]],
    ['organizations', subject.organizations, contents.subject.organizations],
    ['DNS names', certificate.dnsNames, contents.dnsNames],
    ['addresses', certificate.ipAddresses, contents.ipAddresses.map(canonicalAddress)],
    ['usages', certificate.extendedKeyUsages, purposeUsages[contents.purpose]],
  ];
  return pairs
    .filter(([, is, want]) => listed(is) !== listed(want))
    .map(([what, is, want]) => `its ${what} are ${listed(is) || 'none'} instead of ${listed(want) || 'none'}`);
}

function listed(values: readonly string[]): string {
  return [...new Set(values)].sort().join(', ');
}
