// kube-apiserver, controller-manager and scheduler of a master, written once its etcd member votes: the API server talks
// to that member alone. All three at once: there is nothing yet that a failed start could take away. A pod that is there
// is left as it is; to replace one is an upgrade, which goes from master to master.
import { apiserverPod } from '../../control-plane/apiserver-pod.ts';
import { bundleFile, type ControlPlaneComponent, podFile } from '../../control-plane/control-plane-paths.ts';
import { controllerManagerPod } from '../../control-plane/controller-manager-pod.ts';
import { schedulerPod } from '../../control-plane/scheduler-pod.ts';
import { toYaml } from '../../kubernetes/yaml.ts';
import { addressOf, type Agent, controlPlaneOf } from '../agent-context.ts';
import { apiReadiness } from '../api-readiness.ts';
import { acted, type Duty, settled, waiting } from '../duty.ts';
import { readReleaseFacts } from '../release-facts.ts';

export const controlPlane: Duty = {
  name: 'control-plane',
  why: 'Once this master votes in etcd it can serve the API without the bootstrap machine.',
  roles: ['master'],
  needs: ['etcd-member'],
  isDeafWhenSettled: true,
  tickMs: 500,
  run: async (agent) => {
    const { files } = agent.host;
    const written: string[] = [];
    for (const [component, pod] of Object.entries(await podsOf(agent))) {
      const path = podFile(component as ControlPlaneComponent);
      if ((await files.facts(path)) !== undefined) continue;
      await files.write(path, toYaml(pod), { mode: 0o600 });
      written.push(component);
    }
    if (written.length > 0) return acted(`started ${written.join(', ')}`);
    const ca = await files.readText(bundleFile('apiserver-ca'));
    const api = await apiReadiness(agent.host, { url: 'https://localhost:6443', ca });
    return api.status === 'ready' ? settled() : waiting(...api.missing);
  },
};

async function podsOf(agent: Agent): Promise<Readonly<Partial<Record<ControlPlaneComponent, object>>>> {
  const { serviceNetwork, clusterName, podNetwork, podPrefix, featureGates = {} } = controlPlaneOf(agent);
  const { kubernetesImage: image } = await readReleaseFacts(agent.host);
  const common = { image, featureGates };
  return {
    'kube-apiserver': apiserverPod({ ...common, advertiseAddress: addressOf(agent), serviceNetwork }),
    'kube-controller-manager': controllerManagerPod({ ...common, clusterName, podNetwork, podPrefix, serviceNetwork }),
    'kube-scheduler': schedulerPod(common),
  };
}
