import { describe, expect, test } from 'vitest';
import { decideFile, type FileDecision } from './three-way.ts';

describe('what happens to one file', () => {
  test.each<[string, string | undefined, string, string | undefined, FileDecision]>([
    ['a new file is written', undefined, 'a', undefined, 'write'],
    ['a file that somebody put there first is theirs', undefined, 'a', 'x', 'keep-theirs'],
    ['a file that somebody put there first and equals ours is ours', undefined, 'a', 'a', 'keep-ours'],
    ['an untouched file is written when it changes', 'a', 'b', 'a', 'write'],
    ['an untouched file stays when nothing changes', 'a', 'a', 'a', 'keep-ours'],
    ['an edit stays while what it is derived from stays', 'a', 'a', 'x', 'keep-theirs'],
    ['an edit that equals what we would write now is fine', 'a', 'b', 'b', 'keep-ours'],
    ['an edit and a change of what it is derived from contradict each other', 'a', 'b', 'x', 'conflict'],
    ['a removed file is written again', 'a', 'a', undefined, 'write'],
  ])('%s', (_title, before, now, disk, decision) => {
    expect(decideFile({ before, now, disk, mayBeRemoved: false })).toBe(decision);
  });

  test('a removed file stays removed where that is allowed, but a new one is written', () => {
    expect(decideFile({ before: 'a', now: 'b', disk: undefined, mayBeRemoved: true })).toBe('stay-removed');
    expect(decideFile({ before: undefined, now: 'b', disk: undefined, mayBeRemoved: true })).toBe('write');
  });
});
