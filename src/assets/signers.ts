// The six signers, each with one purpose. They depend on nothing, so that no edit of the install-config ever changes
// whom machines trust.
import { issueSigner } from '../pki/issue.ts';
import { type SignerName, signerProfiles } from '../pki/profiles.ts';
import { type Asset, asset, type NoInputs } from './asset.ts';
import { credentialFiles, credentialPaths, readCredential, type StoredCredential } from './credential-files.ts';
import { assetErrors } from './errors.ts';

export type SignerAsset = Asset<StoredCredential, NoInputs>;

function signerAsset(name: SignerName): SignerAsset {
  const profile = signerProfiles[name];
  return asset({
    name,
    why: profile.why,
    neededUntil: `the cluster is destroyed; held by: ${profile.heldBy}`,
    inputs: {},
    outputs: credentialPaths(name),
    isWhole: true,
    generate: (_inputs, { random, clock }) => credentialFiles(name, issueSigner(profile, { random, now: clock.now() })),
    read: (files, { clock }) => {
      const stored = readCredential(name, files);
      const [file] = credentialPaths(name);
      if (!stored.certificate.isCa) {
        throw assetErrors.UNREADABLE({ file, reason: 'it is not a certificate authority' });
      }
      if (stored.certificate.notAfter <= clock.now()) {
        throw assetErrors.EXPIRED({ file, at: stored.certificate.notAfter.toISOString() });
      }
      return stored;
    },
  });
}

export const rootCa = signerAsset('root-ca');
export const etcdSigner = signerAsset('etcd-signer');
export const apiserverServingSigner = signerAsset('apiserver-serving-signer');
export const controlPlaneClientSigner = signerAsset('control-plane-client-signer');
export const kubeletSigner = signerAsset('kubelet-signer');
export const frontProxySigner = signerAsset('front-proxy-signer');
