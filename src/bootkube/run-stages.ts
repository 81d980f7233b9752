// Runs stages of a bootstrap under their journal, all of them or one alone.
import { dirname } from 'node:path';
import { runStages } from '../workflow/engine.ts';
import type { Emit } from '../workflow/events.ts';
import { openJournal } from '../workflow/journal.ts';
import type { Stage } from '../workflow/stage.ts';
import type { BootkubeContext } from './context.ts';
import { bootkubeJournal } from '../contract/bootstrap-paths.ts';

export interface RunBootkubeOptions {
  readonly context: BootkubeContext;
  readonly stages: readonly Stage<BootkubeContext>[];
  readonly emit: Emit;
  readonly signal: AbortSignal;
  readonly journalFile?: string;
}

export async function runBootkubeStages(options: RunBootkubeOptions): Promise<void> {
  const { context, stages, emit, signal } = options;
  const path = options.journalFile ?? bootkubeJournal;
  await context.host.files.makeFolder(dirname(path), { mode: 0o700 });
  await using journal = await openJournal(context.host.files, path);
  await runStages({ stages, context, journal, clock: context.host.clock, emit, signal });
}
