// Stage 11: our own image renders nothing. It installs no ingress controller, so nothing listens for *.apps: the load
// balancer has no ports 80 and 443. A user can add a controller as a manifest, or an image that renders one to the
// release; what that image renders is put into the API with everything else.
import { clusterConfigPath } from '../../contract/asset-folder.ts';
import { definitionsAreUsable, ownRendersNothing, parsesAsObjects } from '../checks.ts';
import { renderStage } from '../render-stage.ts';

const identity = { number: 11, name: 'ingress' } as const;
const variable = 'INGRESS_OPERATOR_IMAGE';

export const ingress = renderStage({
  ...identity,
  why: 'Firstlight itself installs no ingress controller: names below apps lead to nothing until an image of the release renders one, or you put the manifests of one into manifests/.',
  variable,
  inputs: [clusterConfigPath, 'render/05-config/cluster'],
  outputs: ['what the image of the component renders; of our own nothing'],
  render: async () => [],
  verify: [ownRendersNothing(variable), parsesAsObjects(identity), definitionsAreUsable(identity)],
});
