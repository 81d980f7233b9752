// A certificate that a server of the cluster shows, and who must know its signer: names only, as an operator says them.
// Each has a signer of its own, so that whoever trusts one server trusts no other.

export interface ServingCertificate {
  readonly namespace: string;
  /** Of the Secret with the certificate and its key. The Secret of its signer has `-signer` behind it. */
  readonly name: string;
  /** May have places of the payload's values. */
  readonly dnsNames: readonly string[];
  readonly ipAddresses?: readonly string[];
  /** Where the certificate of its signer is written. */
  readonly trustedBy: readonly TrustPlace[];
}

export type TrustPlace =
  | { readonly kind: 'ConfigMap'; readonly namespace: string; readonly name: string; readonly key: string }
  /** kube-apiserver then knows by it the server behind the APIService. */
  | { readonly kind: 'APIService'; readonly name: string };
