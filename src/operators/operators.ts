// Every operator of the release, in the order of its run-levels. One row each; a new one is a new file and a row here.
import type { Operator } from './operator.ts';

export const operators: readonly Operator[] = [];
