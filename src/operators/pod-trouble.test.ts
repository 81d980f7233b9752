import { describe, expect, test } from 'vitest';
import { podTrouble } from './pod-trouble.ts';
import { minutesAgo, notReadySince, sampleNow, samplePod } from './sample-sight.ts';

const waits = (reason: string, message = ''): object => ({ state: { waiting: { reason, message } } });
const ended = (restartCount: number, minutes: number): object => ({
  restartCount,
  lastState: { terminated: { exitCode: 1, reason: 'Error', message: 'line\nno API', finishedAt: minutesAgo(minutes) } },
});

const cases: readonly (readonly [string, object, string | undefined, boolean])[] = [
  ['is Ready', { conditions: [{ type: 'Ready', status: 'True' }] }, undefined, false],
  ['has done its work', { phase: 'Succeeded', conditions: [{ type: 'Ready', status: 'False' }] }, undefined, false],
  [
    'has just begun',
    notReadySince(1, waits('ContainerCreating')),
    'pod p on worker-0 is not Ready: containers with unready status: [main]',
    false,
  ],
  [
    'is not Ready for long',
    notReadySince(11),
    'pod p on worker-0 is not Ready: containers with unready status: [main]',
    true,
  ],
  [
    'cannot pull its image since a moment',
    notReadySince(0.5, waits('ErrImagePull', 'not found')),
    'pod p on worker-0: container main waits, ErrImagePull: not found',
    false,
  ],
  [
    'cannot pull its image',
    notReadySince(2, waits('ImagePullBackOff', 'not found')),
    'pod p on worker-0: container main waits, ImagePullBackOff: not found',
    true,
  ],
  [
    'has ended once',
    notReadySince(1, { ...waits('CrashLoopBackOff'), ...ended(1, 1) }),
    'pod p on worker-0: container main has ended 1 times, last with exit code 1: no API',
    false,
  ],
  [
    'ends again and again',
    notReadySince(1, { ...waits('CrashLoopBackOff'), ...ended(3, 1) }),
    'pod p on worker-0: container main has ended 3 times, last with exit code 1: no API',
    true,
  ],
  [
    'runs between two ends',
    notReadySince(1, ended(4, 1)),
    'pod p on worker-0: container main has ended 4 times, last with exit code 1: no API',
    true,
  ],
  [
    'has ended often, but long ago',
    notReadySince(1, ended(9, 60)),
    'pod p on worker-0 is not Ready: containers with unready status: [main]',
    false,
  ],
];

describe('a pod that', () => {
  test.each(cases)('%s', (_, status, sentence, isStuck) => {
    const trouble = podTrouble(samplePod({ name: 'p', node: 'worker-0', status }), sampleNow);
    expect(trouble?.sentence).toBe(sentence);
    expect(trouble?.isStuck ?? false).toBe(isStuck);
  });

  test('has no node says what the scheduler says', () => {
    const status = {
      phase: 'Pending',
      conditions: [{ type: 'PodScheduled', status: 'False', message: '0/2 nodes are available: 2 Insufficient cpu.' }],
    };
    expect(podTrouble(samplePod({ name: 'p', status }), sampleNow)).toEqual({
      reason: 'Unschedulable',
      sentence: 'pod p has no node: 0/2 nodes are available: 2 Insufficient cpu.',
      isStuck: true,
    });
  });
});
