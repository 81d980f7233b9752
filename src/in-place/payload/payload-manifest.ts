// What a payload says about itself: for whom it was made, from which config, which steps it has, which files, and what
// it may touch on the machine. The signature is over the bytes of this file, and this file names every other one.
import { z } from 'zod';
import { payloadStages } from './payload-steps.ts';

export const payloadFormat = 'ipb.dev/payload/v1';

/** Paths in the archive. */
export const payloadPaths = {
  manifest: 'manifest.json',
  /** The signature of the manifest: ECDSA or RSA with SHA-256, in base64. */
  signature: 'manifest.sig',
  /** The certificate of the key that signed, and those between it and its authority. */
  certificate: 'certificate.pem',
  /** `bootstrap.sh STAGE STEP` runs one step. */
  script: 'bootstrap.sh',
  playbook: { base: 'ansible/base.yml', kube: 'ansible/kube.yml' },
  ansibleSettings: 'ansible/ansible.cfg',
  variables: 'ansible/variables.json',
  /** The contents that playbooks put in place. */
  contents: 'ansible/files',
} as const;

/** Named by its number and its path, for whoever looks into the archive. */
export function contentsName(number: number, path: string): string {
  return `${String(number).padStart(3, '0')}-${plainName(path)}`;
}

export function isContentsOf(archivePath: string, path: string): boolean {
  return (
    archivePath.startsWith(`${payloadPaths.contents}/`) &&
    archivePath.slice(-plainName(path).length - 1) === `-${plainName(path)}`
  );
}

function plainName(path: string): string {
  return path.replaceAll(/[^A-Za-z0-9.]+/g, '-').replace(/^[-.]+/, '');
}

/** Not in the manifest, because they prove it. */
export const proofFiles: readonly string[] = [payloadPaths.manifest, payloadPaths.signature, payloadPaths.certificate];

/** Whom a payload is made for; the Secret of the node has the same three. */
export interface PayloadIds {
  readonly workerId: string;
  readonly clusterId: string;
  readonly region: string;
}

const touched = z.object({
  path: z.string().startsWith('/'),
  /** `contents`: the path may be made, replaced or removed. `rights`: only its mode may change. */
  what: z.enum(['contents', 'rights']),
});
export type TouchedPath = z.infer<typeof touched>;

const touchedByStage = z.object({
  paths: z.array(touched),
  /** Units whose enablement may change. */
  units: z.array(z.string()),
});
export type StageTouches = z.infer<typeof touchedByStage>;

export const payloadManifestSchema = z.object({
  format: z.literal(payloadFormat),
  workerId: z.string(),
  clusterId: z.string(),
  region: z.string(),
  pool: z.string(),
  /** The name of the rendered MachineConfig that the second stage puts in place. */
  config: z.string(),
  madeAt: z.iso.datetime(),
  steps: z.array(z.object({ stage: z.enum(payloadStages), name: z.string().regex(/^[a-z-]+$/) })),
  /** What a failed stage is undone by: kept before the stage begins, put back when it fails. */
  touches: z.object({ base: touchedByStage, kube: touchedByStage }),
  /** Path in the archive → SHA-256 and mode, of every file but the proofs. */
  files: z.record(z.string(), z.object({ sha256: z.string().regex(/^[0-9a-f]{64}$/), mode: z.int() })),
});
export type PayloadManifest = z.infer<typeof payloadManifestSchema>;
