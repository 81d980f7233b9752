// The seven signers, each with one purpose. They depend on no setting, so that no edit of the install-config ever
// changes whom machines trust.
import { signerIdentity } from '../pki/certificate.ts';
import { isSignedBy } from '../pki/chain.ts';
import { issueSigner } from '../pki/issue.ts';
import { type SignerName, signerProfiles } from '../pki/profiles.ts';
import { type Asset, asset, type NoInputs } from './asset.ts';
import { credentialFiles, credentialPaths, readCredential, type StoredCredential } from './credential-files.ts';
import { assetErrors } from './errors.ts';

export type SignerAsset = Asset<StoredCredential, NoInputs>;

function signerAsset(name: SignerName): SignerAsset {
  return asset({
    ...signerParts(name),
    inputs: {},
    generate: (_inputs, { random, clock }) =>
      credentialFiles(name, issueSigner(signerProfiles[name], { random, now: clock.now() })),
  });
}

function signerParts(
  name: SignerName,
): Pick<SignerAsset, 'name' | 'why' | 'neededUntil' | 'outputs' | 'isWhole' | 'read'> {
  const { why, heldBy } = signerProfiles[name];
  return {
    name,
    why,
    neededUntil: `the cluster is destroyed; held by: ${heldBy}`,
    outputs: credentialPaths(name),
    isWhole: true,
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
  };
}

export const rootCa = signerAsset('root-ca');

export const configServerSigner = asset({
  ...signerParts('config-server-signer'),
  inputs: { rootCa },
  generate: ({ rootCa: parent }, { random, clock }) => {
    const profile = signerProfiles['config-server-signer'];
    return credentialFiles('config-server-signer', issueSigner(profile, { random, now: clock.now() }, parent));
  },
  mismatch: (value, { rootCa: parent }) => {
    const [file, parentFile] = [credentialPaths('config-server-signer')[0], rootCa.outputs[0]];
    if (!isSignedBy(value.certificate, parent.certificate)) {
      return `${file} was not signed by ${parentFile}; they are of two clusters`;
    }
    // Machines would refuse every config server, without saying why.
    const { pathLength } = signerIdentity(parent.certificatePem);
    return pathLength === 0 ? `${parentFile} may sign no other authority, and signed ${file}` : undefined;
  },
});

export const etcdSigner = signerAsset('etcd-signer');
export const apiserverServingSigner = signerAsset('apiserver-serving-signer');
export const controlPlaneClientSigner = signerAsset('control-plane-client-signer');
export const kubeletSigner = signerAsset('kubelet-signer');
export const frontProxySigner = signerAsset('front-proxy-signer');
