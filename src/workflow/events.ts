// The events of a running workflow. They contain facts only; terminal and log file make their own text from them.
import type { StageProgress } from '../contract/stage-progress.ts';

export type WorkflowEvent =
  | { readonly kind: 'stage-unchanged'; readonly stage: string }
  | { readonly kind: 'stage-adopted'; readonly stage: string; readonly note: string }
  /** Held before the stage, until a person lets it go on. */
  | { readonly kind: 'stage-paused'; readonly stage: string; readonly text: string }
  | { readonly kind: 'stage-started'; readonly stage: string; readonly because: string }
  | { readonly kind: 'stage-progress'; readonly stage: string; readonly progress: StageProgress }
  | { readonly kind: 'stage-done'; readonly stage: string; readonly ms: number; readonly note?: string }
  | { readonly kind: 'stage-failed'; readonly stage: string; readonly ms: number; readonly error: unknown }
  | { readonly kind: 'notice'; readonly level: 'info' | 'warn'; readonly text: string };

export type Emit = (event: WorkflowEvent) => void;
