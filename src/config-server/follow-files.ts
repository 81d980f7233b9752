// Looks again when one of some folders changes, and every few seconds in any case: watches are hints that can be lost.
// Looks never overlap, and a change during a look is followed by another one.
import { dirname } from 'node:path';
import type { Host } from '../host/host.ts';

export interface FollowFilesOptions {
  readonly folders: readonly string[];
  /** Must not throw. */
  readonly look: () => Promise<void>;
}

const settleMs = 20;
/** A folder in which something is written all the time costs no more than this. */
const leastMs = 250;
const everyMs = 5_000;

/** Resolves after the first look. */
export async function followFiles(host: Host, { folders, look }: FollowFilesOptions): Promise<AsyncDisposable> {
  const end = new AbortController();
  let wake = Promise.withResolvers<void>();
  let watches: readonly Disposable[] = [];
  const unwatch = (): void => {
    for (const watch of watches) watch[Symbol.dispose]();
  };
  const lookAgain = async (): Promise<void> => {
    // Watches first: what changes from here on means another look. They are made anew each time, because a folder that
    // was removed and made again is another folder.
    wake = Promise.withResolvers<void>();
    unwatch();
    const places = await Promise.all(folders.map((folder) => existing(host, folder)));
    watches = [...new Set(places)].flatMap((place) => watched(host, place, () => wake.resolve()));
    await look();
  };
  await lookAgain();
  const following = (async () => {
    for (;;) {
      const lookedAtMs = host.clock.monotonicMs();
      await pause(host, wake.promise, end.signal);
      // Several files usually change together.
      const restMs = leastMs - (host.clock.monotonicMs() - lookedAtMs);
      await host.clock.sleep(Math.max(settleMs, restMs), end.signal).catch(() => {});
      if (end.signal.aborted) return;
      await lookAgain();
    }
  })();
  return {
    [Symbol.asyncDispose]: async () => {
      end.abort();
      await following;
      unwatch();
    },
  };
}

/** The folder, or the nearest one above it that is there: in it the missing one will appear. */
async function existing(host: Host, folder: string): Promise<string> {
  const facts = await host.files.facts(folder).catch(() => undefined);
  const above = dirname(folder);
  return facts !== undefined || above === folder ? folder : existing(host, above);
}

/** A folder that went away meanwhile cannot be watched; the regular look finds what comes. */
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
