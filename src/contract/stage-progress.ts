// `StageProgress`: what a stage does or waits for now. Events and the progress file of the bootstrap contain it.
import { type Missing, missingLine } from './missing.ts';

export type StageProgress =
  | {
      readonly missing: readonly Missing[];
      /** The component that waits, if it is not the stage itself. */
      readonly waiter?: string;
    }
  | {
      readonly work: string;
      /** Identifies the piece of work. It must not contain amounts that change without progress. */
      readonly key: string;
    };

/** The text is also the key. Give another key if the text contains amounts that may change without progress. */
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
