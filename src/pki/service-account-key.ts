// The key pair that signs the tokens of pods. No certificate: every kube-apiserver holds the same pair and nobody else checks.
// kube-apiserver and kube-controller-manager read the private half as PKCS#8 and the public half as SubjectPublicKeyInfo.
import type { Random } from '../host/random.ts';
import { generateKeyPair, type KeyPair } from './key.ts';

export const serviceAccountKeyProfile = {
  name: 'service-account',
  heldBy: 'bootstrap machine, then every master, in /etc/kubernetes/pki; a copy in the asset folder',
  why: 'A token must be believed by every kube-apiserver whichever of them signed it, so they share one key.',
} as const;

/** The files kube-apiserver is pointed at: `.key` for --service-account-signing-key-file, `.pub` for --service-account-key-file. */
export function generateServiceAccountKey(random: Random): KeyPair {
  return generateKeyPair(random);
}
