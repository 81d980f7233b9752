import { expect, test } from 'vitest';
import { bootkubeStageNames, handoffStageNames, mastersStageNames } from '../contract/bootstrap-stages.ts';
import { handoffStages, mastersStages, stages } from './stages.ts';

test('the stages have the names and numbers that others read in the timeline and in progress.json', () => {
  expect(stages.map(({ name }) => name)).toEqual(bootkubeStageNames);
  expect(stages.map(({ number }) => number)).toEqual(bootkubeStageNames.map((_name, index) => index + 1));
  expect(mastersStages.map(({ name }) => name)).toEqual(mastersStageNames);
  expect(handoffStages.map(({ name }) => name)).toEqual(handoffStageNames);
});
