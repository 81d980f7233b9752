// Stage 4: nothing to render. Upstream Kubernetes has no OAuth server; people come with client certificates in a group
// that a binding of stage 1 makes administrators, machines with certificates of their own.
import { renderStage } from '../render-stage.ts';

export const authentication = renderStage({
  number: 4,
  name: 'authentication',
  why: 'Upstream Kubernetes authenticates by certificate and token, which the API server does itself: there is no server to configure.',
  variable: 'AUTHENTICATION_OPERATOR_IMAGE',
  originalCommand: 'podman run ${AUTHENTICATION_OPERATOR_IMAGE} render … --asset-output-dir=/assets/auth',
  inputs: [],
  outputs: [],
  render: async () => [],
});
