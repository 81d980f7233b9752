// Tells of changes in folders, also in those that do not exist yet. A hint only: every duty looks by itself in any case.
import type { Host } from '../host/host.ts';

const armEveryMs = 1_000;

export interface WatchFoldersOptions {
  readonly folders: readonly string[];
  readonly changed: () => void;
  readonly signal: AbortSignal;
}

/** Runs until the signal. */
export async function watchFolders(host: Host, { folders, changed, signal }: WatchFoldersOptions): Promise<void> {
  const armed = new Map<string, Disposable>();
  try {
    while (armed.size < folders.length) {
      for (const folder of folders.filter((each) => !armed.has(each))) {
        if ((await host.files.facts(folder)) === undefined) continue;
        armed.set(folder, host.files.watch(folder, changed));
        changed();
      }
      await host.clock.sleep(armEveryMs, signal);
    }
    await new Promise<void>((resolve) => {
      if (signal.aborted) return resolve();
      signal.addEventListener('abort', () => resolve(), { once: true });
    });
  } finally {
    for (const watch of armed.values()) watch[Symbol.dispose]();
  }
}
