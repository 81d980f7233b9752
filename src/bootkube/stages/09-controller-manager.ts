// Stage 9: the controller manager. It signs approved certificate requests and assigns pod ranges to nodes until a
// master does this.
import { clusterConfigPath } from '../../contract/asset-folder.ts';
import { controllerManagerPod } from '../../control-plane/controller-manager-pod.ts';
import { featureGatesOf } from '../../install-config/cluster-facts.ts';
import { toYaml } from '../../kubernetes/yaml.ts';
import { imagesAreInRelease, parsesAsObjects, podsNeedNoApi } from '../checks.ts';
import { releaseImage } from '../context.ts';
import { renderStage } from '../render-stage.ts';

const identity = { number: 9, name: 'controller-manager' } as const;

export const controllerManager = renderStage({
  ...identity,
  why: 'Renders the pod of this machine’s controller manager. It signs the certificates of joining nodes and gives each its range of pod addresses.',
  variable: 'KUBE_CONTROLLER_MANAGER_OPERATOR_IMAGE',
  inputs: [clusterConfigPath, 'render/02-release-info'],
  outputs: ['kube-controller-manager-pod.yaml'],
  render: async (context) => {
    const [pods] = context.installConfig.networking.clusterNetwork;
    const pod = controllerManagerPod({
      image: releaseImage(context, 'HYPERKUBE_IMAGE'),
      clusterName: context.names.clusterName,
      podNetwork: pods.cidr,
      podPrefix: pods.hostPrefix,
      serviceNetwork: context.installConfig.networking.serviceNetwork[0],
      featureGates: featureGatesOf(context.installConfig),
      isBootstrap: true,
    });
    return [{ path: 'kube-controller-manager-pod.yaml', content: toYaml(pod) }];
  },
  verify: [parsesAsObjects(identity), imagesAreInRelease(identity), podsNeedNoApi(identity)],
});
