import { describe, expect, test } from 'vitest';
import type { HostAttempt, InPlacePhase } from '../../contract/in-place.ts';
import { nextPodStep, type PodView } from './next-pod-step.ts';

const grant = { attemptId: 'new', secret: {}, token: 't', ackSeq: 0 };
const granted = { status: 'granted', grant } as const;
const onHost = (attemptId: string, phase: InPlacePhase): HostAttempt => ({
  attemptId,
  os: 'rhcos',
  phase,
  since: '2026-01-01T00:00:00Z',
  bootId: 'boot',
  seq: 1,
  history: [],
});
const view: PodView = { hostAttempt: undefined, endedAttempt: undefined, unitState: 'inactive', answer: undefined };

describe('the next step of a pod', () => {
  test.each<[string, Partial<PodView>, string]>([
    ['asks for its grant when it starts', {}, 'ask'],
    ['waits while nobody answers', { answer: { status: 'waiting', waitsFor: 'the API' } }, 'wait'],
    ['begins with a grant', { answer: granted }, 'attempt'],
    [
      'begins again after it was killed before the unit was started',
      { answer: granted, hostAttempt: onHost('new', 'Ready') },
      'attempt',
    ],
    [
      'begins a new attempt after one that has ended',
      { answer: granted, endedAttempt: 'old', hostAttempt: onHost('old', 'Failed') },
      'attempt',
    ],
    [
      'asks nobody while the unit works: a grant would bring another token',
      { endedAttempt: 'new', unitState: 'activating' },
      'idle',
    ],
    [
      'asks nobody while the host is in the middle, whoever started it',
      { hostAttempt: onHost('new', 'KubeletStopped') },
      'idle',
    ],
    ['idles when its attempt is refused', { answer: { status: 'refused' } }, 'idle'],
    ['never brings an attempt twice', { answer: granted, endedAttempt: 'new', unitState: 'failed' }, 'idle'],
    [
      'never brings an attempt again that the host has ended',
      { answer: granted, hostAttempt: onHost('new', 'RolledBack') },
      'idle',
    ],
  ])('%s', (_title, change, kind) => {
    expect(nextPodStep({ ...view, ...change }).kind).toBe(kind);
  });
});
