// Calls `look` when one of some folders changes, and every few seconds in any case, because a watch can miss a change.
// Looks never overlap, and a change during a look is followed by another one.
import { dirname } from 'node:path';
import type { Host } from '../host/host.ts';
import { Doorbell } from '../workflow/doorbell.ts';
import { pause } from '../workflow/pause.ts';

export interface FollowFilesOptions {
  readonly folders: readonly string[];
  /** Must not throw. */
  readonly look: () => Promise<void>;
}

const settleMs = 20;
/** Between two looks, also for a folder that changes all the time. */
const leastMs = 250;
const everyMs = 5_000;

/** Resolves after the first look. */
export async function followFiles(host: Host, { folders, look }: FollowFilesOptions): Promise<AsyncDisposable> {
  const end = new AbortController();
  const changed = new Doorbell();
  let rings = 0;
  let watches: readonly Disposable[] = [];
  const unwatch = (): void => {
    for (const watch of watches) watch[Symbol.dispose]();
  };
  const lookAgain = async (): Promise<void> => {
    // Watches first, so that a later change causes another look. They are made again each time, because a folder that
    // was removed and made again needs another watch.
    ({ rings } = changed);
    unwatch();
    const places = await Promise.all(folders.map((folder) => existing(host, folder)));
    watches = [...new Set(places)].flatMap((place) => watched(host, place, () => changed.ring()));
    await look();
  };
  await lookAgain();
  const following = (async () => {
    for (;;) {
      const lookedAtMs = host.clock.monotonicMs();
      await pause(host.clock, { ms: everyMs, signal: end.signal, wake: (over) => changed.rung(rings, over) }).catch(
        () => {},
      );
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

/** The folder, or the nearest parent that exists: the missing folder will appear in it. */
async function existing(host: Host, folder: string): Promise<string> {
  const facts = await host.files.facts(folder).catch(() => undefined);
  const above = dirname(folder);
  return facts !== undefined || above === folder ? folder : existing(host, above);
}

/** A folder that was removed meanwhile cannot be watched; the regular look is enough then. */
function watched(host: Host, folder: string, changed: () => void): readonly Disposable[] {
  try {
    return [host.files.watch(folder, changed)];
  } catch {
    return [];
  }
}
