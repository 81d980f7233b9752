// The certificate with which the kubelet of this machine is a member. One that still fits the cluster is kept; any
// other is set aside, so that the agent asks for a new one with the token that came with the configuration.
import { dirname, posix } from 'node:path';
import { identityFiles } from '../../admission/kubelet-identity.ts';
import { attemptFiles } from '../../contract/in-place.ts';
import { bootstrapKubeconfig, kubeletClientCertificate, kubeletKubeconfig } from '../../contract/machine-paths.ts';
import type { Host } from '../../host/host.ts';
import { accessOf, parseKubeconfig } from '../../kubernetes/read-kubeconfig.ts';
import { readCertificate } from '../../pki/certificate.ts';

function asidePath(attemptId: string, path: string): string {
  return `${attemptFiles(attemptId).folder}/identity/${posix.basename(path)}`;
}

/** `kubeconfig`: the one with which a machine joins the cluster that it is to belong to. */
export async function setUnfitIdentityAside(host: Host, attemptId: string, kubeconfig: string): Promise<void> {
  if (await isFit(host, kubeconfig)) return;
  const { files } = host;
  for (const path of identityFiles) {
    if ((await files.facts(path)) === undefined) continue;
    const aside = asidePath(attemptId, path);
    await files.makeFolder(dirname(aside), { mode: 0o700 });
    await files.rename(path, aside, { isDurable: true });
  }
}

export async function giveBackIdentity({ files }: Host, attemptId: string): Promise<void> {
  for (const path of identityFiles) {
    const aside = asidePath(attemptId, path);
    if ((await files.facts(aside)) !== undefined) await files.rename(aside, path, { isDurable: true });
  }
}

/** The same server and authority, and a certificate whose time is not over. */
async function isFit({ files, clock }: Host, kubeconfig: string): Promise<boolean> {
  try {
    const [own, joining] = await Promise.all(
      [
        parseKubeconfig(await files.readText(kubeletKubeconfig), dirname(kubeletKubeconfig)),
        parseKubeconfig(kubeconfig, dirname(bootstrapKubeconfig)),
      ].map((parsed) => accessOf(files, parsed)),
    );
    const { notAfter } = readCertificate(await files.readText(kubeletClientCertificate));
    const isOfCluster = own?.server === joining?.server && own?.ca?.trim() === joining?.ca?.trim();
    return isOfCluster && notAfter > clock.now();
  } catch {
    // Missing or damaged: it fits nothing.
    return false;
  }
}
