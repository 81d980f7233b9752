// Stage 11: renders nothing. This release installs no ingress controller, so nothing listens for *.apps: the load
// balancer has no ports 80 and 443. A user can add a controller as a manifest.
import { rendersNothing } from '../checks.ts';
import { renderStage } from '../render-stage.ts';

export const ingress = renderStage({
  number: 11,
  name: 'ingress',
  why: 'This release installs no ingress controller, and names below apps lead to nothing until you put the manifests of one into manifests/.',
  variable: 'INGRESS_OPERATOR_IMAGE',
  inputs: [],
  outputs: [],
  render: async () => [],
  verify: [rendersNothing],
});
