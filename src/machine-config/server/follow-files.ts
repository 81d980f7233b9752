// Looks again when one of some folders changes, and every few seconds in any case: watches are hints that can be lost.
// Looks never overlap, and a change during a look is followed by another one.
import type { Host } from '../../host/host.ts';

export interface FollowOptions {
  readonly folders: readonly string[];
  /** Must not throw. */
  readonly look: () => Promise<void>;
}

const settleMs = 20;
const everyMs = 5_000;

/** Resolves after the first look. */
export async function followFiles(host: Host, { folders, look }: FollowOptions): Promise<AsyncDisposable> {
  const end = new AbortController();
  let wake = Promise.withResolvers<void>();
  const watches = [...new Set(folders)].flatMap((folder) => watched(host, folder, () => wake.resolve()));
  await look();
  const following = (async () => {
    while (!end.signal.aborted) {
      await pause(host, wake.promise, end.signal);
      if (end.signal.aborted) return;
      // Several files usually change together; and from here on another change means another look.
      await host.clock.sleep(settleMs, end.signal).catch(() => {});
      wake = Promise.withResolvers<void>();
      await look();
    }
  })();
  return {
    [Symbol.asyncDispose]: async () => {
      end.abort();
      for (const watch of watches) watch[Symbol.dispose]();
      await following;
    },
  };
}

/** A folder that is not there cannot be watched; the regular look finds it. */
function watched(host: Host, folder: string, changed: () => void): readonly Disposable[] {
  try {
    return [host.files.watch(folder, changed)];
  } catch {
    return [];
  }
}

async function pause(host: Host, woken: Promise<void>, signal: AbortSignal): Promise<void> {
  const over = new AbortController();
  const slept = host.clock.sleep(everyMs, AbortSignal.any([signal, over.signal])).catch(() => {});
  await Promise.race([woken, slept]);
  over.abort();
}
