// What a bundle says about itself in files that programs read, with schema and path. A bundle of another version, or
// one that was cut, must still be readable as far as it goes.
import { z } from 'zod';

export const bundleFiles = { about: 'about.json', machines: 'machines.json', missed: 'not-taken.json' } as const;

export const bundleAboutSchema = z.object({
  /** `20261116193000`, the time at which it was made. */
  id: z.string(),
  cluster: z.string(),
  infraId: z.string(),
  platform: z.string(),
  /** Of firstlight, which made the bundle. */
  version: z.string(),
  command: z.string(),
  madeAt: z.string(),
  /** What the command failed with, after which the bundle was made by itself. */
  failure: z.object({ code: z.string(), message: z.string() }).exactOptional(),
});
export type BundleAbout = z.output<typeof bundleAboutSchema>;

export const bundleMachineSchema = z.object({
  name: z.string(),
  role: z.enum(['bootstrap', 'master', 'worker']),
  address: z.string(),
  state: z.string(),
  /** How it was looked at. */
  look: z.enum(['inside', 'its disk', 'not at all']),
  folder: z.string(),
});
export type BundleMachine = z.output<typeof bundleMachineSchema>;

export const missedSchema = z.object({ what: z.string(), reason: z.string() });

/** Of `services/*.json`, in the format of the original's records. */
export const serviceRecordSchema = z.object({
  timestamp: z.string(),
  phase: z.string(),
  stage: z.string().exactOptional(),
  result: z.string().exactOptional(),
  errorMessage: z.string().exactOptional(),
});
export type ServiceRecordEntry = z.output<typeof serviceRecordSchema>;

export const bundleDiagnosisSchema = z.object({
  reasons: z.array(
    z.object({
      check: z.string(),
      certainty: z.string(),
      sentence: z.string(),
      seen: z.string(),
      machine: z.string().exactOptional(),
      next: z.object({ verb: z.string(), rest: z.string() }),
    }),
  ),
  missing: z.array(z.string()),
});
export type BundleDiagnosis = z.output<typeof bundleDiagnosisSchema>;
