// For every program that checks certificates, the signers that it trusts and no others.
// A signer in a bundle can make any identity for the programs that read it, so a new entry widens its power.
import { joinBundle } from './certificate.ts';
import type { SignerName } from './profiles.ts';

export interface TrustBundle {
  readonly signers: readonly SignerName[];
  readonly readBy: string;
  readonly why: string;
}

export const trustBundles = {
  'config-server-ca': {
    signers: ['root-ca'],
    readBy: 'Ignition on first boot',
    why: 'A machine may take its configuration only from our config server.',
  },
  'etcd-ca': {
    signers: ['etcd-signer'],
    readBy: 'etcd for clients and peers; every etcd client',
    why: 'etcd asks only whether the signer is right, so nothing else may be signed by it.',
  },
  'apiserver-ca': {
    signers: ['apiserver-serving-signer'],
    readBy: 'every kubeconfig; pods, through --root-ca-file of the controller manager',
    why: 'The API is recognised by this signer alone.',
  },
  'client-ca': {
    signers: ['control-plane-client-signer', 'kubelet-signer'],
    readBy: 'kube-apiserver (--client-ca-file)',
    why: 'Two kinds of clients prove themselves by certificate: what we run, and who asked for one and was approved.',
  },
  'kubelet-client-ca': {
    signers: ['control-plane-client-signer'],
    readBy: 'kubelet (authentication.x509.clientCAFile)',
    why: 'Only kube-apiserver and administrators call kubelets; kubelets do not call each other.',
  },
  'kubelet-serving-ca': {
    signers: ['kubelet-signer'],
    readBy: 'kube-apiserver (--kubelet-certificate-authority)',
    why: 'Before it sends the commands of users, the API checks to which kubelet it speaks.',
  },
  'front-proxy-ca': {
    signers: ['front-proxy-signer'],
    readBy: 'kube-apiserver and extension servers (--requestheader-client-ca-file)',
    why: 'Who is believed here may speak in the name of any user.',
  },
} as const satisfies Record<string, TrustBundle>;

export type TrustBundleName = keyof typeof trustBundles;

/** The PEM file of a bundle, from the certificates of the signers. */
export function trustBundlePem(name: TrustBundleName, certificatePems: Readonly<Record<SignerName, string>>): string {
  return joinBundle(trustBundles[name].signers.map((signer) => certificatePems[signer]));
}
