// The twelve stages that render files, in the order in which they run. Stages 13 to 15 start what these have rendered.
import type { RenderStage } from './render-stage.ts';
import { manifests } from './stages/01-manifests.ts';
import { releaseInfoStage } from './stages/02-release-info.ts';
import { api } from './stages/03-api.ts';
import { authentication } from './stages/04-authentication.ts';
import { configStage } from './stages/05-config.ts';
import { versionOperatorStage } from './stages/06-version-operator.ts';
import { etcd } from './stages/07-etcd.ts';
import { kubeApiserver } from './stages/08-kube-apiserver.ts';
import { controllerManager } from './stages/09-controller-manager.ts';
import { scheduler } from './stages/10-scheduler.ts';
import { ingress } from './stages/11-ingress.ts';
import { machineConfig } from './stages/12-machine-config.ts';

export const renderStages: readonly RenderStage[] = [
  manifests,
  releaseInfoStage,
  api,
  authentication,
  configStage,
  versionOperatorStage,
  etcd,
  kubeApiserver,
  controllerManager,
  scheduler,
  ingress,
  machineConfig,
];
