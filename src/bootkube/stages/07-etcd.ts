// Stage 7: the first etcd member: its pod, which founds an etcd cluster with one member, the certificates of etcd and
// of its clients on this machine, and by which figures the cluster grows when the masters join.
import { dirname } from 'node:path';
import { clusterMetadataFile } from '../../contract/cluster-metadata.ts';
import { etcdPorts, httpsUrl } from '../../contract/ports.ts';
import { certificateFile } from '../../control-plane/control-plane-paths.ts';
import { etcdMemberFlags } from '../../control-plane/etcd-member.ts';
import { etcdPod } from '../../control-plane/etcd-pod.ts';
import { etcdLeaves, issueDueLeaves } from '../../control-plane/machine-credentials.ts';
import type { InitialMember } from '../../etcd/member.ts';
import { masterCount } from '../../install-config/cluster-facts.ts';
import { toYaml } from '../../kubernetes/yaml.ts';
import { type EtcdScaling, etcdScaling, etcdScalingSchema } from '../../membership/growth-limits.ts';
import { imagesAreInRelease, parsesAsObjects, podsNeedNoApi, readRendered } from '../checks.ts';
import { type BootkubeContext, releaseImage } from '../context.ts';
import { renderStage, type StageCheck, type StageFile } from '../render-stage.ts';
import {
  credentialFolder,
  credentialFolders,
  credentialOptions,
  credentialStages,
  leavesFit,
  readCredentials,
} from '../rendered-credentials.ts';

const identity = credentialStages.etcd;
const scalingFile = 'scaling.json';

const bootstrapMember = 'etcd-bootstrap';

/** A member that is told another limit than the others refuses to start with them. */
const scalingFits: StageCheck = {
  name: 'the founder has the limit of learners by which etcd grows',
  run: async (context) => {
    const { maxLearners, voters } = await readScaling(context);
    const pod = await readRendered(context, identity, 'etcd-pod.yaml');
    if (!pod.includes(`--max-learners=${maxLearners}\n`)) return `etcd-pod.yaml has no --max-learners=${maxLearners}`;
    const masters = masterCount(context.installConfig);
    return voters === masters ? undefined : `${scalingFile}: ${voters} voters for ${masters} masters`;
  },
};

export const etcd = renderStage({
  ...identity,
  why: 'Renders the pod and the certificates of the first etcd member. Nothing can be stored before etcd runs, so the kubelet will start it first.',
  variable: 'ETCD_OPERATOR_IMAGE',
  keeps: credentialFolders,
  inputs: [clusterMetadataFile, 'render/02-release-info', 'render/05-config/pki'],
  outputs: ['etcd-pod.yaml', scalingFile, 'etcd/*', 'kube-apiserver/apiserver-etcd-client.*', 'pki/*'],
  render: async (context) => {
    const scaling = etcdScaling(bootstrapMember, masterCount(context.installConfig));
    const image = releaseImage(context, 'ETCD_IMAGE');
    const flags = founderFlags(context, scaling);
    return [
      { path: 'etcd-pod.yaml', content: toYaml(etcdPod({ image, flags, isBootstrap: true })) },
      { path: scalingFile, content: `${JSON.stringify(scaling, null, 2)}\n` },
      ...(await certificates(context)),
    ];
  },
  verify: [
    parsesAsObjects(identity),
    imagesAreInRelease(identity),
    podsNeedNoApi(identity),
    leavesFit(identity, etcdLeaves),
    scalingFits,
  ],
});

async function certificates(context: BootkubeContext): Promise<readonly StageFile[]> {
  const root = credentialFolder(context, identity);
  for (const leaf of etcdLeaves)
    await context.host.files.makeFolder(dirname(certificateFile(leaf, root)), { mode: 0o700 });
  await issueDueLeaves(credentialOptions(context, identity, etcdLeaves));
  return readCredentials(context, identity);
}

/** Where a cluster is brought back, etcd has data before it starts; without data it must fail and not begin empty. */
function founderFlags(context: BootkubeContext, scaling: EtcdScaling): readonly string[] {
  const { machine, restore } = context;
  return etcdMemberFlags({
    name: scaling.founder,
    address: machine.address,
    ...foundingOf(context, scaling),
    initialState: restore === undefined ? 'new' : 'existing',
    masters: scaling.maxLearners,
  });
}

/**
 * Who founds the etcd of this cluster, and with which token. A cluster that is brought back has a token of its own, so
 * its etcd has another id: a member of the lost one can never take part in it.
 */
export function foundingOf(
  { machine, clusterId, restore }: BootkubeContext,
  { founder }: Pick<EtcdScaling, 'founder'>,
): { readonly clusterToken: string; readonly initialCluster: readonly InitialMember[] } {
  return {
    clusterToken: restore === undefined ? clusterId : `${clusterId}-${restore.id}`,
    initialCluster: [{ name: founder, peerUrl: httpsUrl(machine.address, etcdPorts.peer) }],
  };
}

/** As this stage has rendered it, for whoever grows etcd. */
export async function readScaling(context: BootkubeContext): Promise<EtcdScaling> {
  return etcdScalingSchema.parse(JSON.parse(await readRendered(context, identity, scalingFile)));
}
