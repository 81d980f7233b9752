// Makes the payload of one node on the workstation, from what the cluster would serve now: for a service of the user's
// own, for a machine without a way to the config servers, or to look into it. It holds a token with which one machine
// can join, so it is as secret as a kubeconfig.
import { join } from 'node:path';
import { issueBootstrapToken } from '../../admission/bootstrap-token-secret.ts';
import { clusterPools } from '../../config-server/cluster-pools.ts';
import { parseKubeletKubeconfig, type ServedPool } from '../../config-server/config-source.ts';
import { filesForOneMachine } from '../../config-server/served-config.ts';
import type { Host } from '../../host/host.ts';
import { Secret } from '../../host/secret.ts';
import { buildPayload } from '../../in-place/payload/build-payload.ts';
import type { PayloadIds } from '../../in-place/payload/payload-manifest.ts';
import { apiPatience } from '../../kubernetes/api-patience.ts';
import { kubeconfig } from '../../kubernetes/kubeconfig.ts';
import { sourceKinds } from '../../machine-config/cluster-sources.ts';
import { kubeletKubeconfigOptions } from '../../machine-config/kubelet-kubeconfig.ts';
import { joinBundle } from '../../pki/certificate.ts';
import { type TrustBundleName, trustBundles } from '../../pki/trust-bundles.ts';
import { retry } from '../../workflow/retry.ts';
import { findPools } from '../pools/observe-pools.ts';
import { attemptErrors } from './errors.ts';
import { findInPlaceFacts } from './in-place-facts.ts';
import type { AttemptCall } from './observe-attempts.ts';
import { inPlaceTarget, poolOf } from './prepare-attempt.ts';

export interface PayloadOrder {
  readonly node: string;
  /** By default the name of the node, the cluster and `local`, as `prepareAttempt` has them. */
  readonly ids: Partial<PayloadIds>;
  /** The asset folder: authorities, and the pair of the config server that signs. */
  readonly dir: string;
  /** The program and its version, as config servers render. */
  readonly generatedBy: string;
}

export interface MadeNodePayload {
  readonly archive: Uint8Array;
  readonly ids: PayloadIds;
  readonly pool: string;
  readonly config: string;
}

type PayloadCall = AttemptCall & { readonly host: Host };

export async function makePayloadFor(call: PayloadCall, order: PayloadOrder): Promise<MadeNodePayload> {
  const { host, client, signal } = call;
  const pool = poolOf(await findPools(call), order.node);
  const target = inPlaceTarget(pool);
  const facts = await findInPlaceFacts(call);
  const served = await servedPool(call, order, { pool: pool.name, target });
  const now = host.clock.now();
  const { token } = await issueBootstrapToken(client, { random: host.random, now, pool: pool.name, signal });
  const ids = { workerId: order.node, clusterId: facts.clusterId, region: 'local', ...order.ids };
  const readPem = (name: string): Promise<string> => host.files.readText(join(order.dir, 'tls', name));
  const archive = await buildPayload({
    ids,
    pool: pool.name,
    machineConfig: served.machineConfig,
    addedFiles: filesForOneMachine(served, token.reveal()),
    signer: {
      certificatePem: await readPem('machine-config-server.crt'),
      keyPem: new Secret(await readPem('machine-config-server.key')),
    },
    now,
  });
  return { archive, ids, pool: pool.name, config: target };
}

/** As a config server of a master has it; the pull secret of masters is not on the workstation. */
async function servedPool(
  { host, client, signal }: PayloadCall,
  { dir, generatedBy }: PayloadOrder,
  { pool, target }: { readonly pool: string; readonly target: string },
): Promise<ServedPool> {
  const list = async ({ kind }: (typeof sourceKinds)[keyof typeof sourceKinds]) =>
    (await retry(apiPatience({ host, signal }), () => client.list(kind, {}, { signal }))).items;
  const { controllerConfig, named } = clusterPools(
    {
      machineConfigs: await list(sourceKinds.machineConfigs),
      pools: await list(sourceKinds.pools),
      controllerConfigs: await list(sourceKinds.controllerConfigs),
    },
    generatedBy,
  );
  const machineConfig = named(pool, target);
  const bundle = async (name: TrustBundleName): Promise<string> => {
    const paths = trustBundles[name].signers.map((signer) => join(dir, 'tls', `${signer}.crt`));
    return joinBundle(await Promise.all(paths.map((path) => host.files.readText(path))));
  };
  const options = {
    clusterName: controllerConfig?.spec.controlPlane?.clusterName ?? 'cluster',
    server: controllerConfig?.spec.apiServerInternalURL ?? '',
    caPem: await bundle('apiserver-ca'),
  };
  const parsed = parseKubeletKubeconfig(kubeconfig(kubeletKubeconfigOptions(options)));
  if (machineConfig === undefined || parsed === undefined) {
    throw attemptErrors.POOL_UNFIT({ pool, reason: `the API has no ${target}, or no ControllerConfig` });
  }
  return { pool, machineConfig, kubeconfig: parsed, kubeletClientCaPem: await bundle('kubelet-client-ca') };
}
