// Stage 10: the scheduler, so that pods are scheduled as soon as the first node exists.
import { clusterConfigPath } from '../../contract/asset-folder.ts';
import { schedulerPod } from '../../control-plane/scheduler-pod.ts';
import { featureGatesOf } from '../../install-config/cluster-facts.ts';
import { toYaml } from '../../kubernetes/yaml.ts';
import { imagesAreInRelease, parsesAsObjects, podsNeedNoApi } from '../checks.ts';
import { releaseImage } from '../context.ts';
import { renderStage } from '../render-stage.ts';

const identity = { number: 10, name: 'scheduler' } as const;

export const scheduler = renderStage({
  ...identity,
  why: 'Renders the pod of this machine’s scheduler: pods of the first nodes should not wait until a master has one.',
  variable: 'KUBE_SCHEDULER_OPERATOR_IMAGE',
  inputs: [clusterConfigPath, 'render/02-release-info'],
  outputs: ['kube-scheduler-pod.yaml'],
  render: async (context) => {
    const pod = schedulerPod({
      image: releaseImage(context, 'HYPERKUBE_IMAGE'),
      featureGates: featureGatesOf(context.installConfig),
      isBootstrap: true,
    });
    return [{ path: 'kube-scheduler-pod.yaml', content: toYaml(pod) }];
  },
  verify: [parsesAsObjects(identity), imagesAreInRelease(identity), podsNeedNoApi(identity)],
});
