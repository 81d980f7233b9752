// The definitions of InPlaceAttempt and InPlaceRun, with the columns that `kubectl get` prints. Rules about fields
// stand where the fields are read (contract/in-place.ts); here are their types, so that a typing mistake is refused.
import {
  attemptKind,
  inPlaceGroup,
  inPlacePhases,
  inPlaceSystems,
  preflightIds,
  progressCommands,
} from '../contract/in-place.ts';
import { runKind } from '../contract/in-place-run.ts';
import type { KubernetesObject } from '../kubernetes/object.ts';
import { type CustomKind, customResourceDefinition } from '../machine-config/crds.ts';

type Schema = Readonly<Record<string, unknown>>;

const text: Schema = { type: 'string' };
const flag: Schema = { type: 'boolean' };
const time: Schema = { type: 'string', format: 'date-time' };
const count: Schema = { type: 'integer', format: 'int32', minimum: 0 };
const oneOf = (values: readonly string[]): Schema => ({ type: 'string', enum: values });
const listOf = (items: Schema): Schema => ({ type: 'array', items });
/** Fields that a later release adds are kept. */
const object = (properties: Readonly<Record<string, Schema>>, required: readonly string[] = []): Schema => ({
  type: 'object',
  'x-kubernetes-preserve-unknown-fields': true,
  ...(required.length === 0 ? {} : { required }),
  properties,
});
const phase = oneOf(inPlacePhases);

const attempt: CustomKind = {
  group: inPlaceGroup,
  kind: attemptKind.kind,
  plural: 'inplaceattempts',
  shortName: 'ipa',
  spec: object(
    {
      node: text,
      attemptId: text,
      os: oneOf(inPlaceSystems),
      notAfter: time,
      clusterId: text,
      isAdoption: flag,
      run: text,
    },
    ['node', 'attemptId', 'os', 'notAfter', 'clusterId'],
  ),
  status: object({
    phase,
    history: listOf(object({ phase, at: time, message: text })),
    command: oneOf(progressCommands),
    snapshot: text,
    cleared: object({ version: text, bootId: text, at: time }),
    failure: object({ phase, code: text, message: text }),
    isAborted: flag,
    waitsFor: text,
    report: object({
      tokenDigest: text,
      ackSeq: count,
      events: listOf(object({ seq: count, phase, step: text, status: text, message: text, at: time })),
      phases: listOf(object({ phase, at: time, bootId: text })),
      preflight: listOf(object({ id: oneOf(preflightIds), outcome: text, message: text })),
    }),
  }),
  columns: [
    { name: 'Node', type: 'string', jsonPath: '.spec.node' },
    { name: 'OS', type: 'string', jsonPath: '.spec.os' },
    { name: 'Phase', type: 'string', jsonPath: '.status.phase' },
    { name: 'WaitsFor', type: 'string', jsonPath: '.status.waitsFor' },
    { name: 'Failure', type: 'string', jsonPath: '.status.failure.code' },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ],
};

const run: CustomKind = {
  group: inPlaceGroup,
  kind: runKind.kind,
  plural: 'inplaceruns',
  shortName: 'ipr',
  spec: object(
    {
      pool: text,
      nodes: listOf(object({ name: text, attemptId: text }, ['name', 'attemptId'])),
      maxConcurrent: { ...count, minimum: 1 },
      failuresMax: { ...count, minimum: 1 },
    },
    ['pool', 'nodes'],
  ),
  status: object({
    state: text,
    message: text,
    nodes: listOf(object({ node: text, attempt: text, phase, message: text })),
  }),
  columns: [
    { name: 'Pool', type: 'string', jsonPath: '.spec.pool' },
    { name: 'State', type: 'string', jsonPath: '.status.state' },
    { name: 'Message', type: 'string', jsonPath: '.status.message' },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ],
};

export const inPlaceResources: readonly KubernetesObject[] = [attempt, run].map(customResourceDefinition);
