// Stage 11: nothing to render. Which ingress controller a cluster runs, if any, is the user's choice; the name
// *.apps points at the load balancer already, and a manifest of the user's own can bring one.
import { renderStage } from '../render-stage.ts';

export const ingress = renderStage({
  number: 11,
  name: 'ingress',
  why: 'Upstream Kubernetes brings no ingress controller; put the manifests of yours into manifests/ and they are applied.',
  variable: 'INGRESS_OPERATOR_IMAGE',
  originalCommand: 'podman run ${INGRESS_OPERATOR_IMAGE} render … --asset-output-dir=/assets/ingress',
  inputs: [],
  outputs: [],
  render: async () => [],
});
