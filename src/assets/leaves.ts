// The leaf certificates that the workstation makes: those of administrators, and one for the bootstrap machine. All
// other machines make the certificates of their servers themselves.
import { isSignedBy, needsRenewal } from '../pki/chain.ts';
import { issueLeaf, type LeafContents } from '../pki/issue.ts';
import {
  type ClusterEndpoints,
  type ClusterLeafName,
  clusterLeaf,
  type LeafName,
  leafProfiles,
  machineLeaf,
  servedChain,
} from '../pki/profiles.ts';
import { type Asset, asset } from './asset.ts';
import { clusterNames } from './cluster-names.ts';
import { credentialFiles, credentialPaths, readCredential, type StoredCredential } from './credential-files.ts';
import { configServerSigner, controlPlaneClientSigner, type SignerAsset } from './signers.ts';

type LeafSigner = SignerAsset | typeof configServerSigner;
type LeafAsset = Asset<StoredCredential, { readonly names: typeof clusterNames; readonly signer: LeafSigner }>;

function leafAsset(
  name: LeafName,
  signer: LeafSigner,
  contents: (cluster: ClusterEndpoints) => LeafContents,
): LeafAsset {
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
      const issued = issueLeaf(contents(inputs.names), inputs.signer, { random, now: clock.now() });
      const certificatePem = servedChain(name, issued.certificatePem, inputs.signer.certificatePem);
      return credentialFiles(name, { ...issued, certificatePem });
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

function clientLeaf(name: ClusterLeafName): LeafAsset {
  return leafAsset(name, controlPlaneClientSigner, (cluster) => clusterLeaf(name, { cluster }));
}

/** For the bootstrap machine alone: its config server must serve before anything could make a certificate there. */
export const bootstrapConfigServerLeaf = leafAsset('machine-config-server', configServerSigner, (cluster) =>
  machineLeaf('machine-config-server', { cluster, machine: { name: 'bootstrap', addresses: [] } }),
);
export const adminLeaf = clientLeaf('admin');
export const breakGlassLeaf = clientLeaf('break-glass-admin');
