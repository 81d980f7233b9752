// The stages of `create cluster`, in their order.
import type { Stage } from '../workflow/stage.ts';
import type { ClusterContext } from './cluster-context.ts';
import { assets } from './stages/assets.ts';
import { addons, controlPlanePhase, handoff, mastersPhase } from './stages/bootstrap-phases.ts';
import { machines } from './stages/machines.ts';
import { nodes } from './stages/nodes.ts';
import { operatorsStage } from './stages/operators.ts';
import { release } from './stages/release.ts';
import { removeBootstrap } from './stages/remove-bootstrap.ts';

export const createStages: readonly Stage<ClusterContext>[] = [
  assets,
  release,
  machines,
  controlPlanePhase,
  mastersPhase,
  handoff,
  addons,
  removeBootstrap,
  nodes,
  operatorsStage,
];
