// Stage 11: our own image renders nothing. The ingress controller of the release is a capability that the version
// operator brings after the handoff. A user can add a controller as a manifest, or an image that renders one to the
// release; what that image renders is put into the API with everything else.
import { clusterConfigPath } from '../../contract/asset-folder.ts';
import { definitionsAreUsable, ownRendersNothing, parsesAsObjects } from '../checks.ts';
import { renderStage } from '../render-stage.ts';

const identity = { number: 11, name: 'ingress' } as const;
const variable = 'INGRESS_OPERATOR_IMAGE';

export const ingress = renderStage({
  ...identity,
  why: 'Our own image has nothing to render here: the ingress controller is a capability that the version operator brings later. An image of the release may render another one, and so may manifests of yours.',
  variable,
  inputs: [clusterConfigPath, 'render/05-config/cluster'],
  outputs: ['what the image of the component renders; of our own nothing'],
  render: async () => [],
  verify: [ownRendersNothing(variable), parsesAsObjects(identity), definitionsAreUsable(identity)],
});
