// The leaf certificates that the workstation makes. A machine makes the certificates of its own servers itself.
import { isSignedBy, needsRenewal } from '../pki/chain.ts';
import { issueLeaf } from '../pki/issue.ts';
import { type ClusterLeafName, clusterLeaf, leafProfiles } from '../pki/profiles.ts';
import { type Asset, asset } from './asset.ts';
import { clusterNames } from './cluster-names.ts';
import { credentialFiles, credentialPaths, readCredential, type StoredCredential } from './credential-files.ts';
import { controlPlaneClientSigner, rootCa, type SignerAsset } from './signers.ts';

type LeafAsset = Asset<StoredCredential, { readonly names: typeof clusterNames; readonly signer: SignerAsset }>;

function leafAsset(name: ClusterLeafName, signer: SignerAsset): LeafAsset {
  const profile = leafProfiles[name];
  const [file] = credentialPaths(name);
  return asset({
    name,
    why: profile.why,
    neededUntil: `it is replaced by a new one; held by: ${profile.heldBy}`,
    inputs: { names: clusterNames, signer },
    outputs: credentialPaths(name),
    isWhole: true,
    generate: (inputs, { random, clock }) => {
      const contents = clusterLeaf(name, { cluster: inputs.names });
      return credentialFiles(name, issueLeaf(contents, inputs.signer, { random, now: clock.now() }));
    },
    read: (files) => readCredential(name, files),
    mismatch: (value, inputs) =>
      isSignedBy(value.certificate, inputs.signer.certificate)
        ? undefined
        : `${file} was not signed by ${signer.outputs[0]}; they are of two clusters`,
    stale: (value, { clock }) =>
      needsRenewal(value.certificate, clock.now())
        ? `ends on ${value.certificate.notAfter.toISOString().slice(0, 10)}`
        : undefined,
  });
}

export const machineConfigServerLeaf = leafAsset('machine-config-server', rootCa);
export const adminLeaf = leafAsset('admin', controlPlaneClientSigner);
export const breakGlassLeaf = leafAsset('break-glass-admin', controlPlaneClientSigner);
