// The conditions in an object's status, as every kind of object reports them: Ready of a Node or a Pod, Available of a
// Deployment, Established of a definition. What is not written as the API writes it is read as no condition.
import { z } from 'zod';
import type { KubernetesObject } from './object.ts';

export interface ObjectCondition {
  readonly type: string;
  /** True, False or Unknown. */
  readonly status: string;
  /** Empty when the object gives none. */
  readonly message: string;
  /** When it became so; undefined when the object does not say. */
  readonly since: Date | undefined;
}

const conditionSchema = z
  .object({
    type: z.string(),
    status: z.string(),
    message: z.string().nullish(),
    lastTransitionTime: z.string().nullish(),
  })
  .transform(({ type, status, message, lastTransitionTime }): ObjectCondition => {
    return {
      type,
      status,
      message: message ?? '',
      since: lastTransitionTime ? new Date(lastTransitionTime) : undefined,
    };
  });

// Go writes a list that nobody has filled yet as null.
const statusSchema = z.object({ conditions: z.array(conditionSchema).nullish() });

export function conditionsOf(object: KubernetesObject): readonly ObjectCondition[] {
  return statusSchema.safeParse(object['status']).data?.conditions ?? [];
}

export function conditionOf(object: KubernetesObject, type: string): ObjectCondition | undefined {
  return conditionsOf(object).find((condition) => condition.type === type);
}

export function hasCondition(object: KubernetesObject, type: string): boolean {
  return conditionOf(object, type)?.status === 'True';
}
