// Renews the certificates of administrators, which live a year on the workstation: those that have little time left are
// made anew by the signer in the asset folder, with the kubeconfigs that carry them; everything else in the folder
// stays. Nothing of it needs the cluster, so it also works when the last certificate has ended.
import { createAssets } from '../assets/create-assets.ts';
import { adminKubeconfig, breakGlassKubeconfig, internalKubeconfig } from '../assets/kubeconfigs.ts';
import { adminLeaf, breakGlassLeaf } from '../assets/leaves.ts';
import type { Host } from '../host/host.ts';
import type { Emit, WorkflowEvent } from '../workflow/events.ts';
import { kubeconfigFile } from './cluster-kubeconfig.ts';

export interface RenewOptions {
  readonly host: Host;
  readonly dir: string;
  readonly emit: Emit;
  readonly signal: AbortSignal;
}

export interface AdminCertificate {
  readonly user: string;
  /** Relative to the asset folder. */
  readonly kubeconfig: string;
  readonly notAfter: Date;
  readonly isRenewed: boolean;
}

const identities = [
  { leaf: adminLeaf, kubeconfig: adminKubeconfig },
  { leaf: breakGlassLeaf, kubeconfig: breakGlassKubeconfig },
] as const;

/** Throws CLUSTER_NO_CLUSTER where the folder has no kubeconfig. */
export async function renewKubeconfigs({
  host,
  dir,
  emit,
  signal,
}: RenewOptions): Promise<readonly AdminCertificate[]> {
  await kubeconfigFile(host, dir);
  const made = new Set<string>();
  const listen = (event: WorkflowEvent): void => {
    if (event.kind === 'stage-done') made.add(event.stage);
    emit(event);
  };
  const targets = [...identities.map(({ kubeconfig }) => kubeconfig), internalKubeconfig];
  const created = await createAssets({ host, dir, targets, purpose: 'kubeconfig renew', emit: listen, signal });
  return identities.map(({ leaf, kubeconfig }) => ({
    user: leaf.name,
    kubeconfig: kubeconfig.outputs[0] ?? '',
    notAfter: created.value(leaf).certificate.notAfter,
    isRenewed: made.has(leaf.name),
  }));
}
