// The name of an image in the registry, from the name that it has elsewhere: the same path and tag without the host.
import { registryErrors } from './errors.ts';

export interface RepositoryTag {
  readonly repository: string;
  readonly tag: string;
}

const repositoryPattern = /^[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*(\/[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*)*$/;
const tagPattern = /^\w[\w.-]{0,127}$/;

export function repositoryTag(name: string): RepositoryTag {
  const [plain = ''] = name.split('@', 1);
  const parts = plain.split('/');
  const [first = ''] = parts;
  const isHost = parts.length > 1 && (/[.:]/.test(first) || first === 'localhost');
  const path = (isHost ? parts.slice(1) : parts).join('/');
  const colon = path.lastIndexOf(':');
  const repository = colon < 0 ? path : path.slice(0, colon);
  const tag = colon < 0 ? 'latest' : path.slice(colon + 1);
  if (!repositoryPattern.test(repository))
    throw registryErrors.NAME({ name, reason: 'its path must be in lower case' });
  if (!tagPattern.test(tag))
    throw registryErrors.NAME({ name, reason: 'its tag has other characters than letters, digits, ., _ and -' });
  return { repository, tag };
}
