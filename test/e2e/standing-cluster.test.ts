// One cluster that `create cluster` made with its defaults, used as a person would (test/e2e/life) and for all that is
// tried on a cluster that stands: what the release brings and keeps (test/e2e/operators), attacks, each against the real
// thing (test/e2e/trust), changes of its machines (test/e2e/machine-config), and machines that become members in place
// (test/e2e/in-place). The topics run in the order of the list; each is a file.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe } from 'vitest';
import { printFigures } from './fire/figures.ts';
import { type LoadReport, startLoad } from './fire/load-report.ts';
import { isLong } from './fire/long.ts';
import { slowMastersTopic } from './fire/slow-masters.ts';
import { adoptionTopic } from './in-place/adoption.ts';
import { inPlaceFailuresTopic } from './in-place/failures.ts';
import { inPlaceKillPointsTopic } from './in-place/kill-points.ts';
import { inPlaceMastersTopic } from './in-place/masters.ts';
import { payloadRouteTopic } from './in-place/payload-route.ts';
import { poolRunTopic } from './in-place/pool-run.ts';
import { silentNodeTopic } from './in-place/silent-node.ts';
import { wreckedNodeTopic } from './in-place/wrecked-node.ts';
import { backupTopic } from './life/backup.ts';
import { clusterEndTopic } from './life/cluster-end.ts';
import { comeAndGoTopic } from './life/come-and-go.ts';
import { diskSecretsTopic } from './life/disk-secrets.ts';
import { freshClusterTopic } from './life/fresh-cluster.ts';
import { gatheringTopic } from './life/gathering.ts';
import { handoffClientTopic } from './life/handoff-client.ts';
import { strangerTopic } from './life/stranger.ts';
import { workloadTopic } from './life/workload.ts';
import { lookingTopic } from './looking/masters.ts';
import { badUnitTopic } from './machine-config/bad-unit.ts';
import { customPoolTopic } from './machine-config/custom-pool.ts';
import { driftTopic } from './machine-config/drift.ts';
import { fullDiskTopic } from './machine-config/full-disk.ts';
import { killPointsTopic } from './machine-config/kill-points.ts';
import { kubeletConfigTopic } from './machine-config/kubelet-config.ts';
import { liveChangesTopic } from './machine-config/live-changes.ts';
import { masterRolloutTopic } from './machine-config/master-rollout.ts';
import { newWorkerTopic } from './machine-config/new-worker.ts';
import { rebootRolloutTopic } from './machine-config/reboot-rollout.ts';
import { removalTopic } from './machine-config/removal.ts';
import { renderRefusedTopic } from './machine-config/render-refused.ts';
import { hostPicture, startCli, temporaryFolder } from './machine-lab.ts';
import { capabilitiesTopic } from './operators/capabilities.ts';
import { degradedOperatorTopic } from './operators/degraded-operator.ts';
import { ingressTopic } from './operators/ingress.ts';
import { metricsTopic } from './operators/metrics.ts';
import { registryTopic } from './operators/registry.ts';
import { storageTopic } from './operators/storage.ts';
import { versionOperatorTopic } from './operators/version-operator.ts';
import { auditTopic } from './trust/audit.ts';
import { configServerFloodTopic } from './trust/config-server-flood.ts';
import { containerKeysTopic } from './trust/container-keys.ts';
import { hardenedDefaultsTopic } from './trust/hardened-defaults.ts';
import { hostileNodeTopic } from './trust/hostile-node.ts';
import { openPortsTopic } from './trust/open-ports.ts';
import { peopleTopic } from './trust/people.ts';
import { requestFloodTopic } from './trust/request-flood.ts';
import { secretRightsTopic } from './trust/secret-rights.ts';
import { secretsEncryptionTopic } from './trust/secrets-encryption.ts';
import { shortLivesTopic } from './trust/short-lives.ts';
import { terminalOutputTopic } from './trust/terminal-output.ts';
import type { TrustCluster } from './trust/trust-cluster.ts';
import { usedTokenTopic } from './trust/used-token.ts';

const folder = temporaryFolder();
const dir = join(folder, 'cluster');
let infraId = '';
let before: ReturnType<typeof hostPicture>;
let load: LoadReport;
const cluster: TrustCluster = { dir, folder, infraId: () => infraId };

const topics: Readonly<Record<string, (cluster: TrustCluster) => void>> = {
  'a fresh cluster': freshClusterTopic,
  'a client of the API during the handoff': (own) => handoffClientTopic(own, () => load),
  'work in the cluster': workloadTopic,
  'operators: the release keeps itself': versionOperatorTopic,
  // More than a minute, because operators are patient.
  ...(isLong ? { 'operators: one that is degraded': degradedOperatorTopic } : {}),
  'operators: capabilities': capabilitiesTopic,
  'operators: storage': storageTopic,
  'operators: metrics': metricsTopic,
  'operators: ingress': ingressTopic,
  'operators: registry': registryTopic,
  'secrets on disks': diskSecretsTopic,
  'a log bundle': gatheringTopic,
  'a stranger with a pool token': strangerTopic,
  'nodes that come and go': comeAndGoTopic,
  'a backup': backupTopic,
  'secrets in etcd': secretsEncryptionTopic,
  'keys in containers': containerKeysTopic,
  'lives of certificates': shortLivesTopic,
  'rights to Secrets': secretRightsTopic,
  'the config server under attack': configServerFloodTopic,
  'a used token': usedTokenTopic,
  'a hostile node': hostileNodeTopic,
  'a flood of certificate requests': requestFloodTopic,
  'what others write and administrators read': terminalOutputTopic,
  'hardened defaults': hardenedDefaultsTopic,
  'open ports': openPortsTopic,
  'looking into masters': lookingTopic,
  'kubeconfigs for people': peopleTopic,
  'slow masters': slowMastersTopic,
  // From here on the cluster has two workers.
  'machine-config: a new worker': newWorkerTopic,
  'machine-config: changes without a reboot': liveChangesTopic,
  'machine-config: settings of kubelets': kubeletConfigTopic,
  'machine-config: a MachineConfig that is refused': renderRefusedTopic,
  'machine-config: drift': driftTopic,
  'machine-config: a MachineConfig that goes again': removalTopic,
  'machine-config: a full disk': fullDiskTopic,
  'machine-config: a pool of its own': customPoolTopic,
  'machine-config: a unit that does not start': badUnitTopic,
  'machine-config: a reboot of the workers': rebootRolloutTopic,
  'machine-config: a reboot of the masters': masterRolloutTopic,
  ...(isLong ? { 'machine-config: kills': killPointsTopic } : {}),
  'in-place: a wrecked node': wreckedNodeTopic,
  'in-place: a bare machine': adoptionTopic,
  'in-place: a pool': poolRunTopic,
  'in-place: a payload': payloadRouteTopic,
  // Minutes each: rarer ways to the same ends as those above.
  ...(isLong
    ? {
        'in-place: a silent node': silentNodeTopic,
        'in-place: failures': inPlaceFailuresTopic,
        'in-place: masters': inPlaceMastersTopic,
        'in-place: kills': inPlaceKillPointsTopic,
      }
    : {}),
  // The last two: they would show what another topic left behind.
  'the audit': auditTopic,
  'the end': (own) => clusterEndTopic(own, () => before),
};

beforeAll(async () => {
  before = hostPicture();
  // A client of the API from its first answer to the end of the handoff.
  const client = startLoad({ kubeconfig: join(dir, 'auth/kubeconfig'), writesPerSecond: 20, watches: 50 });
  const outcome = await startCli(['create', 'cluster', '--dir', dir, '-o', 'json']).outcome;
  if (outcome.code !== 0) client.kill();
  if (outcome.code !== 0) throw new Error(`create cluster ended with ${outcome.code}\n${outcome.stderr}`);
  infraId = (JSON.parse(outcome.stdout) as { infraId: string }).infraId;
  load = await client.end();
});

afterAll(async () => {
  printFigures();
  await startCli(['destroy', 'cluster', '--dir', dir]).outcome;
  rmSync(folder, { recursive: true, force: true });
});

describe.each(Object.entries(topics))('%s', (_name, declareTests) => {
  declareTests(cluster);
});
