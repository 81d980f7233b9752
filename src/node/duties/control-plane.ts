// Static pods of kube-apiserver, controller-manager and scheduler. The pod of the API server is written once the etcd
// member of this master votes, because it uses only that member. The others follow when the API server serves: earlier
// they would only take processor time from its start. A pod that exists is not changed; replacing one is an upgrade.

import { localApiUrl } from '../../contract/ports.ts';
import { readReleaseFacts } from '../../contract/release-facts.ts';
import { podWrittenKey } from '../../contract/timeline.ts';
import { apiserverPod } from '../../control-plane/apiserver-pod.ts';
import type { ControlPlaneComponent } from '../../control-plane/component-holdings.ts';
import { bundleFile, podFile } from '../../control-plane/control-plane-paths.ts';
import { controllerManagerPod } from '../../control-plane/controller-manager-pod.ts';
import { schedulerPod } from '../../control-plane/scheduler-pod.ts';
import { isTransient } from '../../kubernetes/api-failure.ts';
import { apiReadiness } from '../../kubernetes/readiness.ts';
import { toYaml } from '../../kubernetes/yaml.ts';
import { type Agent, addressOf, controlPlaneOf } from '../agent-context.ts';
import { acted, type Duty, settled, waiting } from '../duty.ts';
import { followEncryptionKeys } from './secrets-encryption.ts';

export const controlPlaneDuty: Duty = {
  name: 'control-plane',
  roles: ['master'],
  needs: ['etcd-member'],
  ignoresRingsWhenSettled: true,
  tickMs: 300,
  run: async (agent) => {
    const { 'kube-apiserver': server, ...others } = await podsOf(agent);
    if ((await agent.host.files.facts(podFile('kube-apiserver'))) === undefined) await takeOverKeys(agent);
    const first = await writeMissing(agent, { 'kube-apiserver': server });
    if (first.length > 0) return acted(`started ${first.join(', ')}`, podWrittenKey);
    const ca = await agent.host.files.readText(bundleFile('apiserver-ca'));
    const api = await apiReadiness({ network: agent.kept }, { url: localApiUrl, ca });
    if (api.status !== 'ready') return waiting(...api.missing);
    const rest = await writeMissing(agent, others);
    return rest.length > 0 ? acted(`started ${rest.join(', ')}`, podWrittenKey) : settled();
  },
};

/**
 * The keys that encrypt Secrets may have been replaced since this master received its keys. Without an API nobody has
 * replaced them, and the API server must start in order that there is one.
 */
async function takeOverKeys(agent: Agent): Promise<void> {
  try {
    await followEncryptionKeys(agent);
  } catch (error) {
    if (!isTransient(error)) throw error;
  }
}

async function writeMissing({ host }: Agent, pods: Pods): Promise<readonly string[]> {
  const written: string[] = [];
  for (const [component, pod] of Object.entries(pods)) {
    const path = podFile(component as ControlPlaneComponent);
    if ((await host.files.facts(path)) !== undefined) continue;
    await host.files.write(path, toYaml(pod), { mode: 0o600 });
    written.push(component);
  }
  return written;
}

type Pods = Readonly<Partial<Record<ControlPlaneComponent, object>>>;

async function podsOf(agent: Agent) {
  const { serviceNetwork, clusterName, podNetwork, podPrefix, featureGates = {} } = controlPlaneOf(agent);
  const { kubernetesImage: image } = await readReleaseFacts(agent.host);
  const common = { image, featureGates };
  return {
    'kube-apiserver': apiserverPod({ ...common, advertiseAddress: addressOf(agent), serviceNetwork }),
    'kube-controller-manager': controllerManagerPod({ ...common, clusterName, podNetwork, podPrefix, serviceNetwork }),
    'kube-scheduler': schedulerPod(common),
  };
}
