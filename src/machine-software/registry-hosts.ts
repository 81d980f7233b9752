// From where the images of a registry are pulled: one hosts.toml per registry, as containerd reads them.
// Mirrors are tried in the order given, then the registry itself unless it is blocked.
import { stringify } from 'smol-toml';
import { registryHostsFolder } from '../contract/machine-paths.ts';

export interface Registry {
  /** As written in image names: `docker.io`, `registry.example.com:5000`. `_default` is every other registry. */
  readonly name: string;
  readonly mirrors: readonly RegistryMirror[];
  /** Only the mirrors are used. */
  readonly isBlocked?: boolean;
  /**
   * A mirror serves images that are named by digest and never resolves tags. containerd has mirrors per registry: a
   * mirror for one repository is asked for other repositories too, and the answer for a digest cannot be wrong.
   */
  readonly isDigestOnly?: boolean;
}

export interface RegistryMirror {
  /** With scheme. A path that begins with /v2 is the API's own root: `https://mirror.example.com/v2/docker`. */
  readonly url: string;
  /** A PEM file on the machine that signs the mirror's certificate. */
  readonly caFile?: string;
}

export interface RegistryHostsFile {
  readonly path: string;
  readonly text: string;
}

export function registryHostsFile(registry: Registry): RegistryHostsFile {
  const hosts = registry.mirrors.map((mirror) => [
    mirror.url,
    {
      capabilities: registry.isDigestOnly === true ? ['pull'] : ['pull', 'resolve'],
      ...(isApiRoot(mirror.url) ? { override_path: true } : {}),
      ...(mirror.caFile === undefined ? {} : { ca: mirror.caFile }),
    },
  ]);
  return {
    path: `${registryHostsFolder}/${registry.name}/hosts.toml`,
    text: stringify({
      ...(registry.name === '_default' ? {} : { server: serverOf(registry) }),
      host: Object.fromEntries(hosts) as Record<string, object>,
    }),
  };
}

/**
 * The server that is used when no mirror answers. containerd has no "none": an address that never answers replaces it.
 */
function serverOf(registry: Registry): string {
  if (registry.isBlocked === true) return 'https://blocked.invalid';
  return registry.name === 'docker.io' ? 'https://registry-1.docker.io' : `https://${registry.name}`;
}

/** Otherwise containerd would append /v2 to the path a second time. */
function isApiRoot(url: string): boolean {
  return new URL(url).pathname.startsWith('/v2/');
}
