// Stage 4: renders nothing. Upstream Kubernetes has no OAuth server. People use client certificates of a group that a
// role binding of stage 1 makes administrators; machines use their own certificates.
import { rendersNothing } from '../checks.ts';
import { renderStage } from '../render-stage.ts';

export const authentication = renderStage({
  number: 4,
  name: 'authentication',
  why: 'Upstream Kubernetes authenticates by certificate and token, which the API server does itself: there is no server to configure.',
  variable: 'AUTHENTICATION_OPERATOR_IMAGE',
  inputs: [],
  outputs: [],
  render: async () => [],
  verify: [rendersNothing],
});
