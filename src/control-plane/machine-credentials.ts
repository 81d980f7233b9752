// The leaves of one control-plane machine: made here, from the signers that lie beside them, and never sent anywhere.
// Observed first: a leaf that still fits its profile and is not near its end is left alone, so this runs at every start
// and on every renewal tick.
import { join } from 'node:path';
import type { Host } from '../host/host.ts';
import { kubeconfigText } from '../kubernetes/kubeconfig.ts';
import { reissueReasons } from '../pki/chain.ts';
import { type Credential, issueLeaf } from '../pki/issue.ts';
import { readKeyPair } from '../pki/key.ts';
import {
  type Facts,
  leafProfiles,
  machineLeaf,
  type MachineLeafName,
  type SignerName,
  signerProfiles,
} from '../pki/profiles.ts';
import { trustBundlePem, type TrustBundleName, trustBundles } from '../pki/trust-bundles.ts';
import { componentKubeconfig, pkiFolder } from './control-plane-paths.ts';
import { controlPlaneErrors } from './errors.ts';

/** Every signer that a control-plane machine holds: all but root-ca, whose key stays on the workstation. */
export const heldSigners: readonly SignerName[] = Object.keys(signerProfiles).filter(
  (name): name is SignerName => name !== 'root-ca',
);

/** What a control-plane machine makes for itself; kubelets ask for theirs. */
export const ownLeaves: readonly MachineLeafName[] = Object.entries(leafProfiles)
  .filter(([, profile]) => profile.madeOn === 'machine')
  .map(([name]) => name as MachineLeafName);

export interface CredentialOptions {
  readonly host: Host;
  readonly facts: Facts;
  readonly clusterName: string;
  /** Where the files are; the real folder on a machine, another one in tests. */
  readonly folder?: string;
  readonly kubeconfigFolder?: string;
}

export interface IssuedLeaf {
  readonly name: MachineLeafName;
  readonly because: string;
}

/** Makes what is missing or no longer fits, and says what it made and why. */
export async function ensureMachineCredentials(options: CredentialOptions): Promise<readonly IssuedLeaf[]> {
  const folder = options.folder ?? pkiFolder;
  const signers = await readSigners(options.host, folder);
  await writeBundles(options.host, folder, signers);
  const issued: IssuedLeaf[] = [];
  for (const name of ownLeaves) {
    const because = await ensureLeaf(options, folder, { name, signers });
    if (because !== undefined) issued.push({ name, because });
  }
  await writeKubeconfigs(options, folder, signers);
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

async function ensureLeaf(
  { host, facts }: CredentialOptions,
  folder: string,
  leaf: { readonly name: MachineLeafName; readonly signers: Signers },
): Promise<string | undefined> {
  const contents = machineLeaf(leaf.name, facts);
  const signer = leaf.signers.get(leafProfiles[leaf.name].signer);
  if (signer === undefined) throw new Error(`no signer for ${leaf.name}`);
  const present = await readCredential(host, folder, leaf.name);
  const now = host.clock.now();
  const reasons =
    present === undefined
      ? ['it does not exist yet']
      : reissueReasons(present, { contents, signerBundlePem: signer.certificatePem, now });
  if (reasons.length === 0) return undefined;
  const { certificatePem, key } = issueLeaf(contents, signer, { random: host.random, now });
  // The key first: a certificate without its key would be noticed, a key without its certificate is made anew.
  await host.files.write(join(folder, `${leaf.name}.key`), key.privatePem.reveal(), { mode: 0o600 });
  await host.files.write(join(folder, `${leaf.name}.crt`), certificatePem, { mode: 0o644 });
  return reasons.join('; ');
}

async function writeBundles(host: Host, folder: string, signers: Signers): Promise<void> {
  const pems = Object.fromEntries([...signers].map(([name, { certificatePem }]) => [name, certificatePem]));
  for (const name of Object.keys(trustBundles) as readonly TrustBundleName[]) {
    if (trustBundles[name].signers.some((signer) => !(signer in pems))) continue;
    const pem = trustBundlePem(name, pems as Record<SignerName, string>);
    await writeIfChanged(host, join(folder, `${name}.crt`), pem, 0o644);
  }
}

async function writeKubeconfigs(options: CredentialOptions, folder: string, signers: Signers): Promise<void> {
  const ca = signers.get('apiserver-serving-signer');
  for (const component of ['kube-controller-manager', 'kube-scheduler'] as const) {
    const own = await readCredential(options.host, folder, component);
    if (ca === undefined || own === undefined) continue;
    const text = kubeconfigText({
      cluster: options.clusterName,
      server: 'https://localhost:6443',
      caPem: ca.certificatePem,
      user: component,
      credential: { kind: 'certificate', certificatePem: own.certificatePem, keyPem: own.key.privatePem.reveal() },
    });
    const path = componentKubeconfig(component);
    const target =
      options.kubeconfigFolder === undefined ? path : join(options.kubeconfigFolder, `${component}.kubeconfig`);
    await writeIfChanged(options.host, target, text, 0o600);
  }
}

async function writeIfChanged(host: Host, path: string, text: string, mode: number): Promise<void> {
  const present = await host.files.readIfPresent(path);
  if (present !== undefined && Buffer.from(present).toString('utf8') === text) return;
  await host.files.write(path, text, { mode });
}
