// Which mirrors containerd supports. It knows mirrors per registry, not per repository, and requests from each the path
// in the image's name, at most with a prefix. So registry.test/team can be found at
// mirror.test/team and at mirror.test/copies/team, and nowhere else.

/** Everything behind the registry: `team/web` of `registry.test/team/web`. */
export function repositoryPath(repository: string): string {
  return repository.split('/').slice(1).join('/');
}

export function registryHost(repository: string): string {
  return repository.split('/')[0] ?? '';
}

/**
 * Where below the mirror's registry the source's registry begins: empty for its root, `copies`, or undefined where
 * containerd cannot express it.
 */
export function mirrorBase(source: string, mirror: string): string | undefined {
  const [wanted, there] = [repositoryPath(source), repositoryPath(mirror)];
  if (there === wanted) return '';
  if (wanted === '') return there;
  return there.endsWith(`/${wanted}`) ? there.slice(0, -wanted.length - 1) : undefined;
}
