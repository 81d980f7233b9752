import { expect, test } from 'vitest';
import { inPlacePhases } from '../../contract/in-place.ts';
import { explainPhase } from './explain-phase.ts';

test('a phase says who ends it, what follows, and what happens at its limit', () => {
  expect(explainPhase('kubeletstopped').text).toBe(
    [
      'KubeletStopped',
      '',
      '  why       Agent and kubelet are stopped and stay so. The controller removes the label before anything is changed.',
      '  ended by  the controller, in the agent of a master',
      '  then      LabelCleared, Failed',
      '  limit     10 min, then Failed (LabelClearTimeout)',
      '  kubelet   does not run, whatever is cut off',
      '',
    ].join('\n'),
  );
});

test('without a name all of them are listed in order', () => {
  const lines = explainPhase(undefined).text.trimEnd().split('\n');
  expect(lines.map((line) => line.split(' ')[0])).toEqual([...inPlacePhases]);
});

test('a name that is nearly right is met with the right one', () => {
  expect(() => explainPhase('Joinin')).toThrow('did you mean Joining?');
});
