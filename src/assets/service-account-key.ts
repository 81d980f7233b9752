// The key pair that signs the tokens of pods.
import { readKeyPair } from '../pki/key.ts';
import { generateServiceAccountKey, serviceAccountKeyProfile } from '../pki/service-account-key.ts';
import { asset, textOf } from './asset.ts';
import { inFile } from './credential-files.ts';

const keyPath = 'tls/service-account.key';
const publicPath = 'tls/service-account.pub';

export const serviceAccountKey = asset({
  name: serviceAccountKeyProfile.name,
  why: serviceAccountKeyProfile.why,
  neededUntil: `the cluster is destroyed; held by: ${serviceAccountKeyProfile.heldBy}`,
  inputs: {},
  outputs: [keyPath, publicPath],
  isWhole: true,
  generate: (_inputs, { random }) => {
    const { privatePem, publicPem } = generateServiceAccountKey(random);
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
