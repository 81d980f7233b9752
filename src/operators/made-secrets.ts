// What an operator needs and no release can hold: certificates that servers of the cluster show, and passwords. Names
// only, as an operator says them; `keep-secrets.ts` makes them. Each certificate has a signer of its own, so that
// whoever trusts one server trusts no other.

export interface MadeSecrets {
  readonly certificates?: readonly ServingCertificate[];
  readonly passwords?: readonly MadePassword[];
}

export interface ServingCertificate {
  readonly namespace: string;
  /** Of the Secret with the certificate and its key. The Secret of its signer has `-signer` behind it. */
  readonly name: string;
  /** May have places of the payload's values. */
  readonly dnsNames: readonly string[];
  readonly ipAddresses?: readonly string[];
  /** Where the certificate of its signer is written. */
  readonly trustedBy: readonly TrustPlace[];
  /** The Deployment, of the same namespace, whose pods read the certificate at their start alone. */
  readonly restarts?: string;
}

export type TrustPlace =
  | { readonly kind: 'ConfigMap'; readonly namespace: string; readonly name: string; readonly key: string }
  /** kube-apiserver then knows by it the server behind the APIService. */
  | { readonly kind: 'APIService'; readonly name: string };

/** A Secret with `username` and `password`: made once, by chance, and then left alone. */
export interface MadePassword {
  readonly namespace: string;
  readonly name: string;
  readonly username: string;
}
