// Every error a person may see, by code. A module's table becomes explainable by a line here.
import { assetErrors } from '../assets/errors.ts';
import { bootkubeErrors } from '../bootkube/errors.ts';
import { clusterErrors } from '../cluster/errors.ts';
import { controlPlaneErrors } from '../control-plane/errors.ts';
import type { ErrorMaker } from '../errors/firstlight-error.ts';
import { etcdErrors } from '../etcd/errors.ts';
import { hostErrors } from '../host/errors.ts';
import { installConfigErrors } from '../install-config/errors.ts';
import { kubernetesErrors } from '../kubernetes/errors.ts';
import { machineConfigErrors } from '../machine-config/errors.ts';
import { configServerErrors } from '../config-server/errors.ts';
import { agentErrors } from '../node/errors.ts';
import { nodeSoftwareErrors } from '../machine-boot/errors.ts';
import { pkiErrors } from '../pki/errors.ts';
import { platformErrors } from '../platform/errors.ts';
import { releaseErrors } from '../release/errors.ts';
import { torcxErrors } from '../torcx/errors.ts';
import { workflowErrors } from '../workflow/errors.ts';
import { cliErrors } from './errors.ts';

const tables: readonly object[] = [
  cliErrors,
  installConfigErrors,
  assetErrors,
  pkiErrors,
  releaseErrors,
  platformErrors,
  machineConfigErrors,
  configServerErrors,
  nodeSoftwareErrors,
  bootkubeErrors,
  agentErrors,
  clusterErrors,
  controlPlaneErrors,
  etcdErrors,
  kubernetesErrors,
  torcxErrors,
  workflowErrors,
  hostErrors,
];

export function errorCatalog(): ReadonlyMap<string, ErrorMaker<never>> {
  const makers = tables.flatMap((table) => Object.values(table) as readonly ErrorMaker<never>[]);
  return new Map(makers.map((maker) => [maker.code, maker]));
}
