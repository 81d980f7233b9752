// The key pair that signs the tokens of pods. It has no certificate: every kube-apiserver holds the same pair, and only
// they check the tokens. kube-apiserver and kube-controller-manager read the private half as PKCS#8 (`.key`,
// --service-account-signing-key-file) and the public half as SubjectPublicKeyInfo (`.pub`, --service-account-key-file).
import { generateKeyPair, readKeyPair } from '../pki/key.ts';
import { asset, textOf } from './asset.ts';
import { inFile } from './credential-files.ts';

const keyPath = 'tls/service-account.key';
const publicPath = 'tls/service-account.pub';

export const serviceAccountKey = asset({
  name: 'service-account',
  why: 'A token must be believed by every kube-apiserver whichever of them signed it, so they share one key.',
  neededUntil:
    'the cluster is destroyed; held by: bootstrap machine, then every master, in /etc/kubernetes/pki; a copy in the asset folder',
  inputs: {},
  outputs: [keyPath, publicPath],
  isWhole: true,
  generate: (_inputs, { random }) => {
    const { privatePem, publicPem } = generateKeyPair(random);
    return [
      { path: keyPath, content: privatePem.reveal(), mode: 0o600 },
      { path: publicPath, content: publicPem },
    ];
  },
  read: (files) => ({
    key: inFile(keyPath, () => readKeyPair(textOf(files, keyPath))),
    publicPem: textOf(files, publicPath),
  }),
  mismatch: ({ key, publicPem }) =>
    key.publicPem.trim() === publicPem.trim() ? undefined : `${publicPath} is not the public half of ${keyPath}`,
});
