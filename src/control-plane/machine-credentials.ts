// The leaf certificates of one control-plane machine: issued on the machine by the signers that it holds, and never
// sent anywhere; and the folder of each component, with exactly what the component may read. A leaf that fits its
// profile and is not near its end is kept, so this may run at any time.
import { join } from 'node:path';
import { kubernetesFolder } from '../contract/machine-paths.ts';
import { localApiUrl } from '../contract/ports.ts';
import type { Host } from '../host/host.ts';
import { writeIfChanged } from '../host/write-if-changed.ts';
import { kubeconfigText } from '../kubernetes/kubeconfig.ts';
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
  servedChain,
  signerProfiles,
} from '../pki/profiles.ts';
import { type TrustBundleName, trustBundlePem, trustBundles } from '../pki/trust-bundles.ts';
import {
  type ControlPlaneComponent,
  componentOwner,
  controlPlaneComponents,
  holdingOf,
  makeReadFolder,
  makeWrittenFolders,
} from './component-holdings.ts';
import {
  certificateFile,
  componentFile,
  componentFolder,
  componentKubeconfig,
  holderOf,
  keyFile,
  pkiFolder,
  pkiFolderIn,
} from './control-plane-paths.ts';
import { controlPlaneErrors } from './errors.ts';
import { modeOfKeyFile } from './master-keys.ts';

/** Every signer that a control-plane machine holds: all but root-ca, whose key stays on the workstation. */
export const heldSigners: readonly SignerName[] = Object.keys(signerProfiles).filter(
  (name): name is SignerName => name !== 'root-ca',
);

/** The leaves that a control-plane machine issues for itself; kubelets request theirs. */
export const ownLeaves: readonly MachineLeafName[] = Object.entries(leafProfiles)
  .filter(([, profile]) => profile.madeOn === 'machine')
  .map(([name]) => name as MachineLeafName);

/** Those of etcd's members and of their clients. */
export const etcdLeaves: readonly MachineLeafName[] = ownLeaves.filter(
  (name) => leafProfiles[name].signer === 'etcd-signer',
);

export interface CredentialOptions {
  readonly host: Host;
  readonly facts: CertificateFacts;
  readonly clusterName: string;
  /** Instead of /etc/kubernetes. */
  readonly root?: string;
  /** Where the signers are. Default: in the folder of keys below `root`. */
  readonly signersFolder?: string;
  /** Default: `ownLeaves`. */
  readonly leaves?: readonly MachineLeafName[];
  /** Which of the leaves that are due may be issued now. Default: all. */
  readonly mayIssue?: (leaf: DueLeaf) => boolean;
  /** False: the files stay those of this program, where nobody reads them yet. Default: each is its component's. */
  readonly givesAway?: boolean;
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
  const signers = await readSigners(options);
  const { leaves = ownLeaves } = options;
  const found = await Promise.all(leaves.map((name) => lookAtLeaf(options, { name, signers })));
  return found.filter((leaf) => leaf !== undefined);
}

/** Issues what is missing or no longer fits, and returns what it issued and why. */
export async function ensureMachineCredentials(options: CredentialOptions): Promise<readonly IssuedLeaf[]> {
  const signers = await readSigners(options);
  await writeBundles(options, signers);
  for (const component of controlPlaneComponents) await writeHolding(options, component, signers);
  return issueDueLeaves(options);
}

/** Only the leaves: the folders that they belong in must be there. */
export async function issueDueLeaves(options: CredentialOptions): Promise<readonly IssuedLeaf[]> {
  const signers = await readSigners(options);
  const issued: IssuedLeaf[] = [];
  for (const leaf of await dueLeaves(options)) {
    if (options.mayIssue?.(leaf) === false) continue;
    const { name, because } = leaf;
    await writeLeaf(options, { name, signers });
    issued.push({ name, because });
  }
  return issued;
}

/**
 * Replaces a key that every control-plane machine has, and the copies of it that components read. True if it differed.
 */
export async function replaceMasterKey(host: Host, name: string, text: string): Promise<boolean> {
  const file = { text, mode: modeOfKeyFile(name) };
  const written = [await writeIfChanged(host.files, { ...file, path: join(pkiFolder, name) })];
  for (const component of controlPlaneComponents.filter((one) => holdingOf(one).masterKeys.includes(name))) {
    const owner = componentOwner(host, component);
    written.push(await writeIfChanged(host.files, { ...file, path: componentFile(component, name), owner }));
  }
  return written.includes(true);
}

type Signers = ReadonlyMap<SignerName, Credential>;

async function readSigners(options: CredentialOptions): Promise<Signers> {
  const { host, root = kubernetesFolder, signersFolder: folder = pkiFolderIn(root) } = options;
  const read = async (name: SignerName): Promise<readonly [SignerName, Credential]> => {
    const files = { certificate: join(folder, `${name}.crt`), key: join(folder, `${name}.key`) };
    const credential = await readCredential(host, files);
    if (credential === undefined) throw controlPlaneErrors.SIGNER_MISSING({ file: files.key });
    return [name, credential];
  };
  return new Map(await Promise.all(heldSigners.map(read)));
}

interface CredentialFiles {
  readonly certificate: string;
  readonly key: string;
}

async function readCredential(host: Host, files: CredentialFiles): Promise<Credential | undefined> {
  const [certificate, key] = await Promise.all(
    [files.certificate, files.key].map((file) => host.files.readIfPresent(file)),
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
  { host, facts, root }: CredentialOptions,
  { name, signers }: SignedLeaf,
): Promise<DueLeaf | undefined> {
  const present = await readCredential(host, { certificate: certificateFile(name, root), key: keyFile(name, root) });
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

/** Undefined where the files stay those of this program. */
function ownerOf(options: CredentialOptions, component: ControlPlaneComponent | undefined) {
  if (component === undefined || options.givesAway === false) return undefined;
  return componentOwner(options.host, component);
}

async function writeLeaf(options: CredentialOptions, { name, signers }: SignedLeaf): Promise<void> {
  const { host, facts, root } = options;
  const issuing = { random: host.random, now: host.clock.now() };
  const signer = signerOf(name, signers);
  const { certificatePem, key } = issueLeaf(machineLeaf(name, facts), signer, issuing);
  const chain = servedChain(name, certificatePem, signer.certificatePem);
  const owner = ownerOf(options, holderOf(name));
  // The key first: a key without its certificate leads to a new leaf at the next run.
  await host.files.write(keyFile(name, root), key.privatePem.reveal(), { mode: 0o600, ...owner });
  await host.files.write(certificateFile(name, root), chain, { mode: 0o644, ...owner });
}

function bundlePem(name: TrustBundleName, signers: Signers): string | undefined {
  const pems = Object.fromEntries([...signers].map(([signer, { certificatePem }]) => [signer, certificatePem]));
  if (trustBundles[name].signers.some((signer) => !(signer in pems))) return undefined;
  return trustBundlePem(name, pems as Record<SignerName, string>);
}

/** Made from files on the same disk and compared at every look: waiting for the disk would only cost time. */
const derived = { isDurable: false } as const;

/** For the programs of the machine that run as root. */
async function writeBundles({ host, root = kubernetesFolder }: CredentialOptions, signers: Signers): Promise<void> {
  for (const name of Object.keys(trustBundles) as readonly TrustBundleName[]) {
    const text = bundlePem(name, signers);
    if (text === undefined) continue;
    const path = join(pkiFolderIn(root), `${name}.crt`);
    await writeIfChanged(host.files, { path, text, mode: 0o644, ...derived });
  }
}

/** The folder of a component, with all that is in it but its leaves. */
async function writeHolding(
  options: CredentialOptions,
  component: ControlPlaneComponent,
  signers: Signers,
): Promise<void> {
  const { host, clusterName, root = kubernetesFolder } = options;
  const folder = componentFolder(component, root);
  const kept = { owner: ownerOf(options, component), ...derived };
  if (options.givesAway === false) await host.files.makeFolder(folder, { mode: 0o700 });
  else await makeReadFolder(host, component, folder);
  if (root === kubernetesFolder) await makeWrittenFolders(host, component);
  const { bundles, masterKeys, hasKubeconfig } = holdingOf(component);
  for (const name of bundles) {
    const text = bundlePem(name, signers);
    if (text === undefined) throw new Error(`${component} reads ${name}, of a signer that machines do not hold`);
    await writeIfChanged(host.files, { path: join(folder, `${name}.crt`), text, mode: 0o644, ...kept });
  }
  for (const name of masterKeys) {
    const text = await host.files.readText(join(pkiFolderIn(root), name));
    await writeIfChanged(host.files, { path: join(folder, name), text, mode: modeOfKeyFile(name), ...kept });
  }
  if (hasKubeconfig) {
    const text = componentKubeconfigText(component, clusterName);
    await writeIfChanged(host.files, { path: componentKubeconfig(component, root), text, mode: 0o600, ...kept });
  }
}

/** It names files instead of containing them: the component reads the files again, so a renewal needs no restart. */
function componentKubeconfigText(component: ControlPlaneComponent, clusterName: string): string {
  return kubeconfigText({
    cluster: clusterName,
    server: localApiUrl,
    caPem: { file: 'apiserver-ca.crt' },
    user: component,
    credential: { kind: 'files', certificate: { file: `${component}.crt` }, key: { file: `${component}.key` } },
  });
}
