// The kubeconfig of kube-proxy; kube-proxy.path starts kube-proxy when the file appears. A master has a leaf for it. A
// worker uses the identity of its node: it has no signer, a token would have to be issued, kept and renewed, and the
// key of the kubelet gives control over kube-proxy anyway. The kubeconfig names files, and kube-proxy reads them again.
import { kubeletClientCertificate, kubeletKubeconfig, kubeProxyKubeconfig } from '../../contract/machine-paths.ts';
import { waitingFor } from '../../contract/missing.ts';
import { bundleFile, certificateFile, keyFile } from '../../control-plane/control-plane-paths.ts';
import { writeIfChanged } from '../../host/write-if-changed.ts';
import { kubeconfigText } from '../../kubernetes/kubeconfig.ts';
import type { Agent } from '../agent-context.ts';
import { acted, type Duty, settled, waiting } from '../duty.ts';

const waitingForKubelet = waitingFor('the kubelet of this machine', 'to get its certificate');

export const kubeProxyDuty: Duty = {
  name: 'kube-proxy',
  roles: ['master', 'worker'],
  // kube-proxy has no use before the node exists, and its role binding exists by then.
  needs: ['cluster-view'],
  ignoresRingsWhenSettled: true,
  run: async (agent) => {
    const text = agent.node.role === 'master' ? masterText(agent) : await workerText(agent);
    if (text === undefined) return waiting(waitingForKubelet);
    const isWritten = await writeIfChanged(agent.host.files, { path: kubeProxyKubeconfig, text, mode: 0o600 });
    return isWritten ? acted('gave kube-proxy its identity') : settled();
  },
};

function masterText({ apiServerUrl }: Agent): string {
  return kubeconfigText({
    cluster: 'cluster',
    server: apiServerUrl,
    caPem: { file: bundleFile('apiserver-ca') },
    user: 'kube-proxy',
    credential: {
      kind: 'files',
      certificate: { file: certificateFile('kube-proxy') },
      key: { file: keyFile('kube-proxy') },
    },
  });
}

/** The kubeconfig of the kubelet is written before the certificate that it names. */
async function workerText({ host }: Agent): Promise<string | undefined> {
  const [kubeconfig, certificate] = await Promise.all([
    host.files.readIfPresent(kubeletKubeconfig),
    host.files.facts(kubeletClientCertificate),
  ]);
  if (kubeconfig === undefined || certificate === undefined) return undefined;
  return Buffer.from(kubeconfig).toString('utf8');
}
