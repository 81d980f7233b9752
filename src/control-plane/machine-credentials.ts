// The leaf certificates of one control-plane machine: issued on the machine by the signers in the same folder, and
// never sent anywhere. A leaf that fits its profile and is not near its end is kept, so this may run at any time.
import { basename, join } from 'node:path';
import { localApiUrl } from '../contract/ports.ts';
import type { Host } from '../host/host.ts';
import { writeIfChanged } from '../host/write-if-changed.ts';
import { type FileReference, kubeconfigText } from '../kubernetes/kubeconfig.ts';
import { type Certificate, readBundle } from '../pki/certificate.ts';
import { needsRenewal, reissueReasons, validityAt } from '../pki/chain.ts';
import { type Credential, issueLeaf } from '../pki/issue.ts';
import { readKeyPair } from '../pki/key.ts';
import {
  type CertificateFacts,
  leafProfiles,
  type MachineLeafName,
  machineLeaf,
  type SignerName,
  signerProfiles,
} from '../pki/profiles.ts';
import { type TrustBundleName, trustBundlePem, trustBundles } from '../pki/trust-bundles.ts';
import { componentKubeconfig, pkiFolder } from './control-plane-paths.ts';
import { controlPlaneErrors } from './errors.ts';

/** Every signer that a control-plane machine holds: all but root-ca, whose key stays on the workstation. */
export const heldSigners: readonly SignerName[] = Object.keys(signerProfiles).filter(
  (name): name is SignerName => name !== 'root-ca',
);

/** The leaves that a control-plane machine issues for itself; kubelets request theirs. */
export const ownLeaves: readonly MachineLeafName[] = Object.entries(leafProfiles)
  .filter(([, profile]) => profile.madeOn === 'machine')
  .map(([name]) => name as MachineLeafName);

export interface CredentialOptions {
  readonly host: Host;
  readonly facts: CertificateFacts;
  readonly clusterName: string;
  /** Where the files are; the real folder on a machine, another one in tests. */
  readonly folder?: string;
  readonly kubeconfigFolder?: string;
  /** Which of the leaves that are due may be issued now. Default: all. */
  readonly mayIssue?: (leaf: DueLeaf) => boolean;
}

export interface IssuedLeaf {
  readonly name: MachineLeafName;
  readonly because: string;
}

export interface DueLeaf extends IssuedLeaf {
  /** Still valid and only old: there is time to renew it when it is this machine's turn. */
  readonly canWait: boolean;
}

/** What would be issued now, and why; nothing is written. */
export async function dueLeaves(options: CredentialOptions): Promise<readonly DueLeaf[]> {
  const folder = options.folder ?? pkiFolder;
  const signers = await readSigners(options.host, folder);
  const found = await Promise.all(ownLeaves.map((name) => lookAtLeaf(options, folder, { name, signers })));
  return found.filter((leaf) => leaf !== undefined);
}

/** Issues what is missing or no longer fits, and returns what it issued and why. */
export async function ensureMachineCredentials(options: CredentialOptions): Promise<readonly IssuedLeaf[]> {
  const folder = options.folder ?? pkiFolder;
  const signers = await readSigners(options.host, folder);
  await writeBundles(options.host, folder, signers);
  const issued: IssuedLeaf[] = [];
  for (const leaf of await dueLeaves(options)) {
    if (options.mayIssue?.(leaf) === false) continue;
    const { name, because } = leaf;
    await writeLeaf(options, folder, { name, signers });
    issued.push({ name, because });
  }
  await writeKubeconfigs(options);
  return issued;
}

type Signers = ReadonlyMap<SignerName, Credential>;

async function readSigners(host: Host, folder: string): Promise<Signers> {
  const read = async (name: SignerName): Promise<readonly [SignerName, Credential]> => {
    const credential = await readCredential(host, folder, name);
    if (credential === undefined) throw controlPlaneErrors.SIGNER_MISSING({ file: join(folder, `${name}.key`) });
    return [name, credential];
  };
  return new Map(await Promise.all(heldSigners.map(read)));
}

async function readCredential(host: Host, folder: string, name: string): Promise<Credential | undefined> {
  const [certificate, key] = await Promise.all(
    [`${name}.crt`, `${name}.key`].map((file) => host.files.readIfPresent(join(folder, file))),
  );
  if (certificate === undefined || key === undefined) return undefined;
  return {
    certificatePem: Buffer.from(certificate).toString('utf8'),
    key: readKeyPair(Buffer.from(key).toString('utf8')),
  };
}

interface SignedLeaf {
  readonly name: MachineLeafName;
  readonly signers: Signers;
}

async function lookAtLeaf(
  { host, facts }: CredentialOptions,
  folder: string,
  { name, signers }: SignedLeaf,
): Promise<DueLeaf | undefined> {
  const present = await readCredential(host, folder, name);
  if (present === undefined) return { name, because: 'it does not exist yet', canWait: false };
  const now = host.clock.now();
  const signerBundlePem = signerOf(name, signers).certificatePem;
  const reasons = reissueReasons(present, { contents: machineLeaf(name, facts), signerBundlePem, now });
  if (reasons.length === 0) return undefined;
  const [certificate] = readBundle(present.certificatePem);
  const isAgeing = certificate !== undefined && needsOnlyRenewal(certificate, now);
  return { name, because: reasons.join('; '), canWait: isAgeing && reasons.length === 1 };
}

function needsOnlyRenewal(certificate: Certificate, now: Date): boolean {
  return validityAt(certificate, now).status === 'valid' && needsRenewal(certificate, now);
}

function signerOf(name: MachineLeafName, signers: Signers): Credential {
  const signer = signers.get(leafProfiles[name].signer);
  if (signer === undefined) throw new Error(`no signer for ${name}`);
  return signer;
}

async function writeLeaf(
  { host, facts }: CredentialOptions,
  folder: string,
  { name, signers }: SignedLeaf,
): Promise<void> {
  const issuing = { random: host.random, now: host.clock.now() };
  const { certificatePem, key } = issueLeaf(machineLeaf(name, facts), signerOf(name, signers), issuing);
  // The key first: a key without its certificate leads to a new leaf at the next run.
  await host.files.write(join(folder, `${name}.key`), key.privatePem.reveal(), { mode: 0o600 });
  await host.files.write(join(folder, `${name}.crt`), certificatePem, { mode: 0o644 });
}

async function writeBundles(host: Host, folder: string, signers: Signers): Promise<void> {
  const pems = Object.fromEntries([...signers].map(([name, { certificatePem }]) => [name, certificatePem]));
  for (const name of Object.keys(trustBundles) as readonly TrustBundleName[]) {
    if (trustBundles[name].signers.some((signer) => !(signer in pems))) continue;
    const pem = trustBundlePem(name, pems as Record<SignerName, string>);
    await writeIfChanged(host.files, { path: join(folder, `${name}.crt`), text: pem, mode: 0o644 });
  }
}

/** They name files instead of containing them: the components read the files again, so a renewal needs no restart. */
async function writeKubeconfigs({ host, clusterName, kubeconfigFolder }: CredentialOptions): Promise<void> {
  for (const component of ['kube-controller-manager', 'kube-scheduler'] as const) {
    const beside = (file: string): FileReference => ({ file: `${basename(pkiFolder)}/${file}` });
    const text = kubeconfigText({
      cluster: clusterName,
      server: localApiUrl,
      caPem: beside('apiserver-ca.crt'),
      user: component,
      credential: { kind: 'files', certificate: beside(`${component}.crt`), key: beside(`${component}.key`) },
    });
    const path = componentKubeconfig(component);
    const target = kubeconfigFolder === undefined ? path : join(kubeconfigFolder, basename(path));
    await writeIfChanged(host.files, { path: target, text, mode: 0o600 });
  }
}
