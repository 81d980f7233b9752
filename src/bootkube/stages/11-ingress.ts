// Stage 11: renders nothing. The user chooses the ingress controller of the cluster, if any, and can add one as a
// manifest. The name *.apps already points to the load balancer.
import { renderStage } from '../render-stage.ts';

export const ingress = renderStage({
  number: 11,
  name: 'ingress',
  why: 'Upstream Kubernetes brings no ingress controller; put the manifests of yours into manifests/ and they are applied.',
  variable: 'INGRESS_OPERATOR_IMAGE',
  inputs: [],
  outputs: [],
  render: async () => [],
});
