import { describe, expect, test } from 'vitest';
import { fakeHost } from '../host/fake/fake-host.ts';
import {
  everyStage,
  isHeldBefore,
  pausedText,
  pauseFile,
  pausePointNamed,
  pointAfter,
  readPause,
  writePause,
} from './bootstrap-pause.ts';

describe('a pause', () => {
  test('is named by number, by name, and as the handoff', () => {
    expect(['7', 'etcd', '15', 'masters', 'handoff'].map(pausePointNamed)).toEqual([
      'etcd',
      'etcd',
      'api-verification',
      'masters',
      'handoff',
    ]);
    expect(['0', '16', '7.5', '', 'commit', 'stop-serving'].map(pausePointNamed)).toEqual(Array(6).fill(undefined));
  });

  test('holds its own stage and all that follow, but none in the middle of the handoff', () => {
    const pause = { before: 'etcd' };
    expect(['manifests', 'version-operator'].map((stage) => isHeldBefore(stage, pause))).toEqual([false, false]);
    expect(['etcd', 'masters', 'commit'].map((stage) => isHeldBefore(stage, pause))).toEqual([true, true, true]);
    expect(['stop-serving', 'leave-etcd', 'add-ons'].map((stage) => isHeldBefore(stage, pause))).toEqual(
      Array(3).fill(false),
    );
    expect(isHeldBefore('etcd', undefined)).toBe(false);
  });

  test('says where it is, and what follows', () => {
    expect([pausedText('etcd'), pausedText('commit')]).toEqual(['paused before 7 etcd', 'paused before handoff']);
    expect([pointAfter('api-verification'), pointAfter('control-planes'), pointAfter('handoff')]).toEqual([
      'masters',
      'handoff',
      undefined,
    ]);
  });

  test('is kept in a file; one that cannot be read holds everything', async () => {
    const { files } = fakeHost({ seed: 'pause' });
    expect(await readPause(files)).toBeUndefined();
    await writePause(files, { before: 'etcd' });
    expect(await readPause(files)).toEqual({ before: 'etcd' });
    await files.write(pauseFile, '{"before":"lunch"}');
    expect(await readPause(files)).toEqual(everyStage);
    await writePause(files, undefined);
    expect(await readPause(files)).toBeUndefined();
  });
});
