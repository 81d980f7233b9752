// Who renders a stage: the image that the stage's variable names. If it is the release's own image, bootkube calls the
// same function in its own process, which takes milliseconds; any other image is run in a container.
import { digestOfReference, ownImageVariable } from '../contract/bootkube-environment.ts';
import type { Renderer } from '../release/images/image-variables.ts';
import { type BootkubeContext, releaseImage } from './context.ts';

export interface StageRenderer {
  readonly variable: string;
  /** By digest. */
  readonly image: string;
  readonly kind: Exclude<Renderer, 'nothing'>;
}

/** `variable`: of the stage; a stage of the original that runs no operator has none, and is our own. */
export function rendererOf(context: Pick<BootkubeContext, 'images'>, variable: string | undefined): StageRenderer {
  const own = releaseImage(context, ownImageVariable);
  const image = variable === undefined ? own : releaseImage(context, variable);
  return { variable: variable ?? ownImageVariable, image, kind: image === own ? 'built-in' : 'image' };
}

/** `release.firstlight.internal/cluster-ingress-operator@sha256:0123456789ab`: enough for a person. */
export function shortReference(image: string): string {
  const digest = digestOfReference(image);
  return digest === undefined ? image : image.replace(digest, digest.slice(0, 'sha256:'.length + 12));
}
