// Stage 8: the API server of the bootstrap machine: the skeleton and the TLS settings of stage 3, completed by the same
// function that makes the pod of the masters.
import { clusterConfigPath } from '../../contract/asset-folder.ts';
import { apiserverPod } from '../../control-plane/apiserver-pod.ts';
import { featureGatesOf } from '../../install-config/cluster-facts.ts';
import { toYaml } from '../../kubernetes/yaml.ts';
import { platformTraits } from '../../platform/platform-traits.ts';
import { imagesAreInRelease, parsesAsObjects, podsNeedNoApi } from '../checks.ts';
import { releaseImage } from '../context.ts';
import { renderStage } from '../render-stage.ts';
import { readApiParts } from './03-api.ts';

const identity = { number: 8, name: 'kube-apiserver' } as const;

export const kubeApiserver = renderStage({
  ...identity,
  why: 'Renders the pod of this machine’s API server. Masters join through it until they run their own.',
  variable: 'KUBE_APISERVER_OPERATOR_IMAGE',
  inputs: [clusterConfigPath, 'render/02-release-info', 'render/03-api'],
  outputs: ['kube-apiserver-pod.yaml'],
  render: async (context) => {
    const parts = await readApiParts(context);
    const options = {
      image: releaseImage(context, 'HYPERKUBE_IMAGE'),
      advertiseAddress: context.machine.address,
      serviceNetwork: context.installConfig.networking.serviceNetwork[0],
      featureGates: featureGatesOf(context.installConfig),
      // This API server stops only once, and the handoff waits for that. After the delay it refuses requests (429), so
      // the load balancer must notice the stop within the delay.
      shutdownDelaySeconds: platformTraits(context.installConfig.platform).balancerNoticesSeconds,
      isBootstrap: true,
    };
    return [{ path: 'kube-apiserver-pod.yaml', content: toYaml(apiserverPod(options, parts)) }];
  },
  verify: [parsesAsObjects(identity), imagesAreInRelease(identity), podsNeedNoApi(identity)],
});
