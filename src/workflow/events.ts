// What a running workflow tells its readers: terminal, log file, dashboard. Facts only; readers choose the words.
export type WorkflowEvent =
  | { readonly kind: 'stage-unchanged'; readonly stage: string }
  | { readonly kind: 'stage-adopted'; readonly stage: string; readonly note: string }
  | { readonly kind: 'stage-started'; readonly stage: string; readonly because: string }
  | { readonly kind: 'stage-progress'; readonly stage: string; readonly progress: string }
  | { readonly kind: 'stage-done'; readonly stage: string; readonly ms: number; readonly note?: string }
  | { readonly kind: 'stage-failed'; readonly stage: string; readonly ms: number; readonly error: unknown }
  | { readonly kind: 'notice'; readonly level: 'info' | 'warn'; readonly text: string };

export type Emit = (event: WorkflowEvent) => void;
