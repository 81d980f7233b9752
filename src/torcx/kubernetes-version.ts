// What follows from a Kubernetes version: the tag of the kubelet image, and the docker versions that fit its minor. A
// tag cannot contain `+`, so `_` replaces it.
import { parse } from 'yaml';
import { z } from 'zod';
import { toYaml } from '../kubernetes/yaml.ts';
import { torcxErrors } from './errors.ts';

const tagPattern = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$/;

/** `v1.9.6+coreos.0` → `1.9`. */
export function kubernetesMinorOf(version: string): string {
  const core = version.replace(/^v+/, '').split('+')[0]?.split('-')[0] ?? '';
  const numbers = core.split('.');
  if (numbers.length !== 3 || !numbers.every((number) => /^\d{1,9}$/.test(number))) {
    throw torcxErrors.KUBE_VERSION({ version, reason: 'does not begin with three numbers' });
  }
  return `${Number(numbers[0])}.${Number(numbers[1])}`;
}

export function imageTagOf(version: string): string {
  const tag = version.replaceAll('+', '_');
  if (!tagPattern.test(tag)) throw torcxErrors.KUBE_VERSION({ version, reason: 'cannot be the tag of an image' });
  return tag;
}

export function versionOfImageTag(tag: string): string {
  return tag.replaceAll('_', '+');
}

/** Throws unless the version has a minor and can be an image tag. */
export function checkKubeVersion(version: string): string {
  kubernetesMinorOf(version);
  imageTagOf(version);
  return version;
}

const schema = z.object({
  kind: z.literal('VersionManifestV1'),
  versions: z.object({ k8s: z.record(z.string(), z.object({ docker: z.array(z.string()).optional() })) }),
});

/** What the original shipped. */
const firstMappings = {
  '1.6': { docker: ['1.12'] },
  '1.7': { docker: ['1.12'] },
  '1.8': { docker: ['17.03', '1.12'] },
  '1.9': { docker: ['17.03', '1.12'] },
} as const;

/**
 * The mappings of a cluster whose owner gives none, with an entry for its own Kubernetes. A later Kubernetes needs
 * nothing of docker, so what fitted the last one of the original fits it too.
 */
export function defaultRuntimeMappings(version: string): string {
  const later = { [kubernetesMinorOf(version)]: firstMappings['1.9'] };
  return toYaml({ kind: 'VersionManifestV1', versions: { k8s: { ...later, ...firstMappings } } });
}

/** A reference becomes part of a file name. */
const referencePattern = /^[A-Za-z0-9][A-Za-z0-9._+-]{0,127}$/;

/** The docker versions that fit that minor, best first. Throws TORCX_MAPPINGS, which names the missing level. */
export function dockerVersionsFor(minor: string, text: string, source: string): readonly string[] {
  const fail = (reason: string): never => {
    throw torcxErrors.MAPPINGS({ source, reason });
  };
  const { versions } = parseMappings(text, fail);
  const entry = versions.k8s[minor] ?? fail(`there is no entry for Kubernetes ${minor}`);
  const docker = entry.docker ?? fail(`the entry for Kubernetes ${minor} does not mention docker`);
  if (docker.length === 0) fail(`the entry for Kubernetes ${minor} lists no docker version`);
  const unusable = docker.find((reference) => !referencePattern.test(reference));
  return unusable === undefined ? docker : fail(`${JSON.stringify(unusable)} cannot be a docker version`);
}

/** The failsafe schema reads every value as a string: as a number, the key 1.10 would be 1.1, another Kubernetes. */
function parseMappings(text: string, fail: (reason: string) => never): z.infer<typeof schema> {
  let value: unknown;
  try {
    value = parse(text, { schema: 'failsafe', maxAliasCount: 10 });
  } catch (error) {
    fail(`not YAML: ${error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error)}`);
  }
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const issue = result.error.issues[0];
  return fail(`${issue?.path.join('.') || 'the document'}: ${issue?.message ?? 'not understood'}`);
}
