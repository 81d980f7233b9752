// Every operator of the release, in the order of its run-levels. One row each; a new one is a new file and a row here.
import { ingressOperator } from './ingress.ts';
import { metricsOperator } from './metrics.ts';
import type { Operator } from './operator.ts';
import { registryOperator } from './registry.ts';
import { storageOperator } from './storage.ts';

export const operators: readonly Operator[] = [storageOperator, metricsOperator, ingressOperator, registryOperator];
