// The command line that starts this program on the host out of the image of the pod: with the loader and the libraries
// of the image, so that nothing must be installed on the host.
import { firstlightFolder } from '../../contract/machine-paths.ts';
import { libraryPlace } from '../../contract/program-libraries.ts';

/** The root of the pod, as processes of the host see it: pod and host have the same process ids. */
export function podRoot(pid: number): string {
  return `/proc/${pid}/root`;
}

/** `root` leads out of itself when its links are resolved, so they stay as they are. */
export function programCommand(
  root: string,
  architecture: string,
  words: readonly string[],
): readonly [string, ...string[]] {
  const { folder, loader } = libraryPlace(architecture);
  return [
    `${root}${folder}/${loader}`,
    '--library-path',
    `${root}${folder}`,
    `${root}${firstlightFolder}/bin/node`,
    '--preserve-symlinks',
    '--preserve-symlinks-main',
    `${root}${firstlightFolder}/dist/firstlight.mjs`,
    ...words,
  ];
}
