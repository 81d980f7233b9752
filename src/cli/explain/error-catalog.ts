// Every error that a user may see, by code. error-catalog.test.ts fails when a table of src/ is missing here.
import { assetErrors } from '../../assets/errors.ts';
import { bootkubeErrors } from '../../bootkube/errors.ts';
import { clusterErrors } from '../../cluster/errors.ts';
import { attemptErrors } from '../../cluster/in-place/errors.ts';
import { configDaemonErrors } from '../../config-daemon/errors.ts';
import { configServerErrors } from '../../config-server/errors.ts';
import {
  clusterMetadataErrors,
  configServerSettingsErrors,
  etcdRestoreErrors,
  nodeSettingsErrors,
  releaseFactsErrors,
  servedTokensErrors,
} from '../../contract/errors.ts';
import { controlPlaneErrors } from '../../control-plane/errors.ts';
import { recoveryErrors } from '../../disaster-recovery/errors.ts';
import type { ErrorKind } from '../../errors/firstlight-error.ts';
import { etcdErrors } from '../../etcd/errors.ts';
import { gatherErrors } from '../../gather/errors.ts';
import { hostErrors } from '../../host/errors.ts';
import { inPlaceErrors } from '../../in-place/errors.ts';
import { payloadErrors } from '../../in-place/payload/errors.ts';
import { inPlacePodErrors } from '../../in-place/pod/errors.ts';
import { installConfigErrors } from '../../install-config/errors.ts';
import { kubernetesErrors } from '../../kubernetes/errors.ts';
import { firstBootErrors, nodePreparationErrors, releasePivotErrors } from '../../machine-boot/errors.ts';
import { machineConfigErrors } from '../../machine-config/errors.ts';
import { agentErrors } from '../../node/errors.ts';
import { pkiErrors } from '../../pki/errors.ts';
import { platformErrors } from '../../platform/errors.ts';
import { registryErrors } from '../../registry/errors.ts';
import { releaseErrors } from '../../release/errors.ts';
import { secretsEncryptionErrors } from '../../secrets-encryption/errors.ts';
import { torcxErrors } from '../../torcx/errors.ts';
import { versionOperatorErrors } from '../../version-operator/errors.ts';
import { workflowErrors } from '../../workflow/errors.ts';
import { cliErrors } from '../frame/errors.ts';

export const errorTables = {
  cliErrors,
  installConfigErrors,
  assetErrors,
  pkiErrors,
  releaseErrors,
  registryErrors,
  platformErrors,
  machineConfigErrors,
  configDaemonErrors,
  configServerErrors,
  inPlaceErrors,
  nodePreparationErrors,
  clusterMetadataErrors,
  configServerSettingsErrors,
  servedTokensErrors,
  nodeSettingsErrors,
  firstBootErrors,
  releasePivotErrors,
  bootkubeErrors,
  etcdRestoreErrors,
  versionOperatorErrors,
  agentErrors,
  inPlacePodErrors,
  releaseFactsErrors,
  clusterErrors,
  attemptErrors,
  controlPlaneErrors,
  etcdErrors,
  kubernetesErrors,
  secretsEncryptionErrors,
  recoveryErrors,
  payloadErrors,
  torcxErrors,
  workflowErrors,
  gatherErrors,
  hostErrors,
};

export function errorCatalog(): ReadonlyMap<string, ErrorKind> {
  const kinds = Object.values(errorTables).flatMap((table): readonly ErrorKind[] => Object.values(table));
  return new Map(kinds.map((kind) => [kind.code, kind]));
}
