// An InPlaceRun: a pool whose nodes are bootstrapped in place, one after the other. The workstation writes what is
// wanted, the controller how far it is.
import { z } from 'zod';
import { inPlacePhases, inPlaceVersion } from './in-place.ts';

export const runKind = { apiVersion: inPlaceVersion, kind: 'InPlaceRun' } as const;

const specOfRun = z.object({
  pool: z.string(),
  /** In the order in which they begin, each with the id in the Secret that was made for this run. */
  nodes: z.array(z.object({ name: z.string(), attemptId: z.string() })),
  maxConcurrent: z.int().min(1).default(1),
  /** So many failures in a row stop the line. */
  failuresMax: z.int().min(1).default(2),
});
const statusOfRun = z.object({
  state: z.enum(['Running', 'Succeeded', 'Stopped', 'Aborted']).default('Running'),
  message: z.string().default(''),
  /** In the order in which they began. */
  nodes: z
    .array(
      z.object({
        node: z.string(),
        attempt: z.string(),
        phase: z.enum(inPlacePhases),
        message: z.string().default(''),
      }),
    )
    .default([]),
});
export interface InPlaceRun {
  readonly name: string;
  /** Undefined before the API has it. */
  readonly createdAt: string | undefined;
  readonly spec: z.infer<typeof specOfRun>;
  readonly status: z.infer<typeof statusOfRun>;
}

/** Undefined where it is no run. */
export function readInPlaceRun(object: {
  readonly metadata: { readonly name: string; readonly creationTimestamp?: string | undefined };
  readonly [field: string]: unknown;
}): InPlaceRun | undefined {
  const spec = specOfRun.safeParse(object['spec']).data;
  const status = statusOfRun.safeParse(object['status'] ?? {}).data;
  if (spec === undefined || status === undefined) return undefined;
  const { name, creationTimestamp: createdAt } = object.metadata;
  return { name, createdAt, spec, status };
}
