// Stage 7: the first etcd member. It starts an etcd cluster with one member, which the masters join later.
import { clusterMetadataFile } from '../../contract/cluster-metadata.ts';
import { etcdPorts, httpsUrl } from '../../contract/ports.ts';
import { etcdMemberFlags } from '../../control-plane/etcd-member.ts';
import { etcdPod } from '../../control-plane/etcd-pod.ts';
import { masterCount } from '../../install-config/cluster-facts.ts';
import { toYaml } from '../../kubernetes/yaml.ts';
import { imagesAreInRelease, parsesAsObjects, podsNeedNoApi } from '../checks.ts';
import { type BootkubeContext, releaseImage } from '../context.ts';
import { renderStage } from '../render-stage.ts';

const identity = { number: 7, name: 'etcd' } as const;

export const etcd = renderStage({
  ...identity,
  why: 'Nothing can be written before etcd answers, so its pod is the first that the kubelet starts.',
  variable: 'ETCD_OPERATOR_IMAGE',
  inputs: [clusterMetadataFile, 'render/02-release-info'],
  outputs: ['etcd-pod.yaml'],
  render: async (context) => {
    const pod = etcdPod({ image: releaseImage(context, 'ETCD_OPERATOR_IMAGE'), flags: founderFlags(context) });
    return [{ path: 'etcd-pod.yaml', content: toYaml(pod) }];
  },
  verify: [parsesAsObjects(identity), imagesAreInRelease(identity), podsNeedNoApi(identity)],
});

export const bootstrapMember = 'etcd-bootstrap';

function founderFlags({ machine, clusterId, installConfig }: BootkubeContext): readonly string[] {
  const peerUrl = httpsUrl(machine.address, etcdPorts.peer);
  return etcdMemberFlags({
    name: bootstrapMember,
    address: machine.address,
    clusterToken: clusterId,
    initialCluster: [{ name: bootstrapMember, peerUrl }],
    initialState: 'new',
    masters: masterCount(installConfig),
  });
}
