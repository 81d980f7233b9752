// Kubernetes versions, and how they become image tags: a tag cannot hold `+`, so `+` and `_` stand for each other.
import { torcxErrors } from './errors.ts';

const tagPattern = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$/;

/** `v1.9.6+coreos.0` → `1.9`. */
export function minorOf(version: string): string {
  const core = version.replace(/^v+/, '').split('+')[0]?.split('-')[0] ?? '';
  const numbers = core.split('.');
  if (numbers.length !== 3 || !numbers.every((number) => /^\d{1,9}$/.test(number))) {
    throw torcxErrors.KUBE_VERSION({ version, reason: 'does not begin with three numbers' });
  }
  return `${Number(numbers[0])}.${Number(numbers[1])}`;
}

export function tagOf(version: string): string {
  const tag = version.replaceAll('+', '_');
  if (!tagPattern.test(tag)) throw torcxErrors.KUBE_VERSION({ version, reason: 'cannot be the tag of an image' });
  return tag;
}

export function versionOfTag(tag: string): string {
  return tag.replaceAll('_', '+');
}

/** Throws unless the version can both choose a runtime and name an image. */
export function checkKubeVersion(version: string): string {
  minorOf(version);
  tagOf(version);
  return version;
}
