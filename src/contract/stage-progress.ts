// What a stage does or waits for right now, as a value: it travels in events and in the progress file of the bootstrap.
import { type Missing, missingLine } from './missing.ts';

export type StageProgress =
  | {
      readonly missing: readonly Missing[];
      /** The subject of the wait, where it is not the stage itself. */
      readonly waiter?: string;
    }
  | {
      readonly work: string;
      /** Identifies the piece of work; amounts that change without movement are not part of it. */
      readonly key: string;
    };

/** A piece of work. The text is its key, unless it contains amounts that may change without movement. */
export function working(work: string, key = work): StageProgress {
  return { work, key };
}

export function stageProgressText(progress: StageProgress): string {
  if ('work' in progress) return progress.work;
  const line = missingLine(progress.missing);
  return progress.waiter === undefined ? line : `${progress.waiter} waits: ${line}`;
}

export function stageProgressKey(progress: StageProgress): string {
  return 'work' in progress ? progress.key : progress.missing.map(({ key }) => key).join('; ');
}
