// The image that stands behind an image variable, by digest.
import type { BootkubeContext } from './context.ts';

export function releaseImage({ release }: Pick<BootkubeContext, 'release'>, variable: string): string {
  const found = release.imageVariables[variable];
  if (found === undefined) throw new Error(`the release has no ${variable}`);
  return found.reference;
}
