// The CertificateSigningRequest as the API stores it. The API server writes the client's username and groups, which can
// be trusted; everything in `spec.request` was written by the client and cannot. A request may be a megabyte and more,
// and there may be thousands: the loop remembers a summary of each, and reads the one that it decides about.
import { z } from 'zod';
import type { KubernetesObject } from '../kubernetes/object.ts';

export const requestKind = { apiVersion: 'certificates.k8s.io/v1', kind: 'CertificateSigningRequest' } as const;

export const kubeletClientSigner = 'kubernetes.io/kube-apiserver-client-kubelet';
export const kubeletServingSigner = 'kubernetes.io/kubelet-serving';
/** For clients that are no kubelets. Nobody approves by rule: a person does, or `firstlight kubeconfig create`. */
export const personSigner = 'kubernetes.io/kube-apiserver-client';

export type CertificateRequest = KubernetesObject & z.output<typeof schema>;

const schema = z.looseObject({
  spec: z.looseObject({
    /** PEM in base64. */
    request: z.string(),
    signerName: z.string(),
    username: z.string(),
    groups: z.array(z.string()).default([]),
    usages: z.array(z.string()).default([]),
    expirationSeconds: z.number().optional(),
  }),
  status: z
    .looseObject({
      certificate: z.string().optional(),
      conditions: z.array(z.looseObject({ type: z.string(), status: z.string() })).nullish(),
    })
    .default({}),
});

export function readCertificateRequest(object: KubernetesObject): CertificateRequest {
  return { ...object, ...schema.parse(object) };
}

/** Approved, denied or failed: nothing is left to decide. */
export function isDecided({ status }: CertificateRequest): boolean {
  return (status.conditions ?? []).length > 0;
}

export function requestPem({ spec }: CertificateRequest): string {
  return Buffer.from(spec.request, 'base64').toString('latin1');
}

/** A request without what it asks for. */
export interface RequestSummary {
  readonly name: string;
  readonly uid: string;
  readonly signerName: string;
  readonly username: string;
  /** Nothing is left to do about it; also when it is being removed. */
  readonly isDecided: boolean;
  /** Of what it asks for, in bytes. */
  readonly size: number;
  /** Grows from one request to the next. */
  readonly age: readonly [createdMs: number, version: number];
}

/** What the watch keeps of a request. */
export function summaryObject(object: KubernetesObject): KubernetesObject {
  const { metadata } = object;
  const request = readCertificateRequest(object);
  const summary: RequestSummary = {
    name: metadata.name,
    uid: metadata.uid ?? '',
    signerName: request.spec.signerName,
    username: request.spec.username,
    isDecided: isDecided(request) || metadata.deletionTimestamp !== undefined,
    size: Buffer.byteLength(request.spec.request, 'base64'),
    age: [Date.parse(metadata.creationTimestamp ?? '') || 0, Number(metadata.resourceVersion ?? 0)],
  };
  const { name, uid, resourceVersion } = metadata;
  const kept = {
    name,
    ...(uid === undefined ? {} : { uid }),
    ...(resourceVersion === undefined ? {} : { resourceVersion }),
  };
  return { ...requestKind, metadata: kept, summary };
}

export function summaryOf(kept: KubernetesObject): RequestSummary {
  return kept['summary'] as RequestSummary;
}
