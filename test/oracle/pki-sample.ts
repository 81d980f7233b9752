// A whole sample PKI from a seed: every signer and every leaf of one master, for tests that look at all of them.
import { createHash } from 'node:crypto';
import type { Random } from '../../src/host/random.ts';
import { type Credential, issueLeaf, issueSigner, type LeafContents } from '../../src/pki/issue.ts';
import {
  type CertificateFacts,
  type ClusterLeafName,
  clusterLeaf,
  type LeafName,
  leafProfiles,
  type MachineLeafName,
  machineLeaf,
  type SignerName,
  type SignerProfile,
  servedChain,
  signerProfiles,
} from '../../src/pki/profiles.ts';

export const sampleNow = new Date('2026-11-15T05:00:00Z');

export const sampleFacts: CertificateFacts = {
  cluster: {
    domain: 'demo.firstlight.test',
    serviceAddresses: ['172.30.0.1', 'fd02::1'],
    apiVips: ['10.99.0.5', 'fd00:99::5'],
  },
  machine: { name: 'master-0', addresses: ['10.99.0.10', 'fd00:99::10'] },
};

/** SHA-256 in counter mode: the same seed, the same bytes. */
export function sampleRandom(seed: string): Random {
  let block = 0;
  return {
    bytes: (count) => {
      const blocks = Array.from({ length: Math.ceil(count / 32) }, () =>
        createHash('sha256').update(`${seed}/${block++}`).digest(),
      );
      return new Uint8Array(Buffer.concat(blocks).subarray(0, count));
    },
  };
}

export function sampleContents(name: LeafName): LeafContents {
  return leafProfiles[name].madeOn === 'workstation'
    ? clusterLeaf(name as ClusterLeafName, sampleFacts)
    : machineLeaf(name as MachineLeafName, sampleFacts);
}

/** The signer that clients know of a leaf: its own, or the one that vouches for it. */
export function anchorOf(name: LeafName): SignerName {
  const { signer } = leafProfiles[name];
  const { signedBy }: SignerProfile = signerProfiles[signer];
  return signedBy === undefined ? signer : 'root-ca';
}

export interface SamplePki {
  readonly signers: Readonly<Record<SignerName, Credential>>;
  readonly leaves: Readonly<Record<LeafName, Credential>>;
}

export function samplePki(seed: string): SamplePki {
  const options = { random: sampleRandom(seed), now: sampleNow };
  const signers = {} as Record<SignerName, Credential>;
  for (const name of Object.keys(signerProfiles) as SignerName[]) {
    const { signedBy }: SignerProfile = signerProfiles[name];
    signers[name] = issueSigner(signerProfiles[name], options, signedBy === undefined ? undefined : signers['root-ca']);
  }
  const leaves = {} as Record<LeafName, Credential>;
  for (const name of Object.keys(leafProfiles) as LeafName[]) {
    const signer = signers[leafProfiles[name].signer];
    const issued = issueLeaf(sampleContents(name), signer, options);
    leaves[name] = { ...issued, certificatePem: servedChain(name, issued.certificatePem, signer.certificatePem) };
  }
  return { signers, leaves };
}
