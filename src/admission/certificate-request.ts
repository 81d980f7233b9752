// The CertificateSigningRequest as the API stores it. The API server writes the client's username and groups, which can
// be trusted; everything in `spec.request` was written by the client and cannot.
import { z } from 'zod';
import type { KubernetesObject } from '../kubernetes/object.ts';

export const requestKind = { apiVersion: 'certificates.k8s.io/v1', kind: 'CertificateSigningRequest' } as const;

export const kubeletClientSigner = 'kubernetes.io/kube-apiserver-client-kubelet';
export const kubeletServingSigner = 'kubernetes.io/kubelet-serving';

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
