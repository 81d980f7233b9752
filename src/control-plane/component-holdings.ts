// What each component of a control-plane machine may read and write: a folder of its own below /etc/kubernetes, which
// is all that its container sees of the machine's keys, and a user of its own, whom the files in it belong to. No
// signer is in any of them but the one that the controller manager signs with. Folders and not single files: a file is
// renewed by a rename, which the mount of a single file would not show.
import { join } from 'node:path';
import { apiserverUser, auditLogFolder, etcdDataFolder } from '../contract/machine-paths.ts';
import { secretsEncryptionFile } from '../contract/secrets-encryption.ts';
import type { Files } from '../host/files.ts';
import type { Host } from '../host/host.ts';
import type { MachineLeafName } from '../pki/profiles.ts';
import type { TrustBundleName } from '../pki/trust-bundles.ts';

export interface ComponentHolding {
  /** The number of its user and of its group. Debian and systemd give 60706 to 61183 to nobody. */
  readonly uid: number;
  readonly leaves: readonly MachineLeafName[];
  readonly bundles: readonly TrustBundleName[];
  /** Copies of keys that every control-plane machine has. */
  readonly masterKeys: readonly string[];
  /** Its access to the API, as its first leaf. */
  readonly hasKubeconfig: boolean;
  /** Folders of the host that it writes to. */
  readonly writes: readonly string[];
}

export const componentHoldings = {
  etcd: {
    uid: 60_711,
    leaves: ['etcd-server', 'etcd-peer'],
    bundles: ['etcd-ca'],
    masterKeys: [],
    hasKubeconfig: false,
    writes: [etcdDataFolder],
  },
  'kube-apiserver': {
    uid: apiserverUser,
    leaves: ['kube-apiserver', 'apiserver-kubelet-client', 'apiserver-etcd-client', 'front-proxy-client'],
    bundles: ['client-ca', 'etcd-ca', 'front-proxy-ca', 'kubelet-serving-ca'],
    masterKeys: ['service-account.key', 'service-account.pub', secretsEncryptionFile],
    hasKubeconfig: false,
    writes: [auditLogFolder],
  },
  'kube-controller-manager': {
    uid: 60_713,
    leaves: ['kube-controller-manager'],
    bundles: ['apiserver-ca', 'client-ca', 'front-proxy-ca'],
    // It signs the tokens of service accounts, and what kubelets and people asked for and somebody approved.
    masterKeys: ['service-account.key', 'kubelet-signer.crt', 'kubelet-signer.key'],
    hasKubeconfig: true,
    writes: [],
  },
  'kube-scheduler': {
    uid: 60_714,
    leaves: ['kube-scheduler'],
    bundles: ['apiserver-ca'],
    masterKeys: [],
    hasKubeconfig: true,
    writes: [],
  },
} as const satisfies Record<string, ComponentHolding>;

export type ControlPlaneComponent = keyof typeof componentHoldings;

export const controlPlaneComponents = Object.keys(componentHoldings) as readonly ControlPlaneComponent[];

export function holdingOf(component: ControlPlaneComponent): ComponentHolding {
  return componentHoldings[component];
}

interface Owner {
  readonly uid: number;
  readonly gid: number;
}

/** Undefined where this program may not give files away: then the components, in a test, are no other users either. */
export function componentOwner(host: Pick<Host, 'environment'>, component: ControlPlaneComponent): Owner | undefined {
  const { uid } = componentHoldings[component];
  return host.environment.uid === 0 ? { uid, gid: uid } : undefined;
}

/** A folder that the component may read and only root may write to. The files in it belong to the component. */
export async function makeReadFolder(host: Host, component: ControlPlaneComponent, path: string): Promise<void> {
  const { files } = host;
  await keepFolder(files, path, 0o750);
  const owner = componentOwner(host, component);
  if (owner === undefined) return;
  await keepOwner(files, path, { uid: 0, gid: owner.gid });
  for (const name of (await files.list(path)) ?? []) await keepOwner(files, join(path, name), owner);
}

/** The folders that a component writes to, as its own, with all that is in them: root may have restored it. */
export async function makeWrittenFolders(host: Host, component: ControlPlaneComponent): Promise<void> {
  const owner = componentOwner(host, component);
  for (const path of holdingOf(component).writes) {
    await keepFolder(host.files, path, 0o700);
    if (owner !== undefined) await giveTree(host.files, path, owner);
  }
}

/** Also where it was there before, made by others. */
async function keepFolder(files: Files, path: string, mode: number): Promise<void> {
  await files.makeFolder(path, { mode });
  if ((await files.facts(path))?.mode !== mode) await files.setMode(path, mode);
}

async function giveTree(files: Files, path: string, owner: Owner): Promise<void> {
  await keepOwner(files, path, owner);
  for (const name of (await files.list(path)) ?? []) await giveTree(files, join(path, name), owner);
}

async function keepOwner(files: Files, path: string, { uid, gid }: Owner): Promise<void> {
  const facts = await files.facts(path);
  if (facts !== undefined && facts.kind !== 'link' && (facts.uid !== uid || facts.gid !== gid))
    await files.setOwner(path, { uid, gid });
}
