// Which docker versions fit which Kubernetes minor, best first. Parsed with the all-strings schema: with any other one
// the key 1.10 becomes the number 1.1 and serves the wrong Kubernetes.
import { parse } from 'yaml';
import { z } from 'zod';
import { torcxErrors } from './errors.ts';

const schema = z.object({
  kind: z.literal('VersionManifestV1'),
  versions: z.object({ k8s: z.record(z.string(), z.object({ docker: z.array(z.string()).optional() })) }),
});

/** A reference becomes a file name, so it must look like one. */
const referencePattern = /^[A-Za-z0-9][A-Za-z0-9._+-]{0,127}$/;

/** The preferred docker versions for that minor. Throws TORCX_MAPPINGS, saying which level is missing. */
export function dockerVersionsFor(minor: string, text: string, source: string): readonly string[] {
  const fail = (reason: string): never => {
    throw torcxErrors.MAPPINGS({ source, reason });
  };
  const { versions } = parseMappings(text, fail);
  const entry = versions.k8s[minor] ?? fail(`there is no entry for Kubernetes ${minor}`);
  const docker = entry.docker ?? fail(`the entry for Kubernetes ${minor} does not mention docker`);
  if (docker.length === 0) fail(`the entry for Kubernetes ${minor} lists no docker version`);
  const odd = docker.find((reference) => !referencePattern.test(reference));
  return odd === undefined ? docker : fail(`${JSON.stringify(odd)} cannot be a docker version`);
}

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
