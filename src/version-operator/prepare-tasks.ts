// From the payload to what a pass does: the values of the cluster are put into their places, and every operator of the
// release gets a task that waits until it is available. Pure.
import { clusterOperatorKind, payloadAnnotations } from '../contract/cluster-version.ts';
import type { KubernetesObject } from '../kubernetes/object.ts';
import type { Operator } from '../operators/operator.ts';
import { fillValues, type PayloadValues } from '../operators/payload-values.ts';
import { isOperatorTask } from './apply-task.ts';
import { inLevels, type Payload, type PayloadTask } from './payload.ts';

/** A release of a few parts has nothing to run for the operators of the others. */
export function broughtOperators(
  operators: readonly Operator[],
  { images }: Pick<Payload, 'images'>,
): readonly Operator[] {
  return operators.filter((operator) => operator.images.every((image) => image in images));
}

export interface PrepareFacts {
  readonly operators: readonly Operator[];
  readonly values: PayloadValues;
}

export function preparedTasks(payload: Payload, { operators, values }: PrepareFacts): readonly PayloadTask[] {
  const filled = payload.tasks.map((task) => withValues(task, values));
  const waits = broughtOperators(operators, payload)
    .filter(({ name }) => !filled.some((task) => isOperatorTask(task) && nameOf(task) === name))
    .map((operator) => waitFor(operator, payload.version));
  return inLevels([...filled, ...waits]);
}

const leftOver = /\{\{[A-Z_]+\}\}/;

/** A manifest with a place that nobody knows is one that fails. */
function withValues(task: PayloadTask, values: PayloadValues): PayloadTask {
  if (!('object' in task)) return task;
  const { object: given, ...where } = task;
  const object = fillValues(given, values);
  const [place] = leftOver.exec(JSON.stringify(object)) ?? [];
  if (place === undefined) return { ...where, object };
  return { ...where, problem: `${task.source}  ${place} is a value that this version operator does not know` };
}

/** The last task of its component: everything before it is what makes the operator available. */
function waitFor({ name, level, capability }: Operator, version: string): PayloadTask {
  const annotations = {
    [payloadAnnotations.include]: 'true',
    ...(capability === undefined ? {} : { [payloadAnnotations.capability]: capability }),
  };
  const status = { versions: [{ name: 'operator', version }] };
  const object: KubernetesObject = { ...clusterOperatorKind, metadata: { name, annotations }, spec: {}, status };
  return { source: `the table of operators#${name}`, level, component: name, object };
}

function nameOf(task: PayloadTask): string | undefined {
  return 'object' in task ? task.object.metadata.name : undefined;
}
