// Watches the folders of the files that a config has written. A change there is only a hint: the duty machine-config
// then compares the whole machine with its config. Several changes shortly after each other are one hint.
import type { Host } from '../host/host.ts';

/** A program that writes a file often makes several changes; the state in between says nothing. */
const gatherMs = 500;

export class DriftWatch implements Disposable {
  readonly #host: Pick<Host, 'files' | 'clock'>;
  readonly #changed: () => void;
  #watches = new Map<string, Disposable>();
  #timer: Disposable | undefined;

  constructor(host: Pick<Host, 'files' | 'clock'>, changed: () => void) {
    this.#host = host;
    this.#changed = changed;
  }

  /** Watches these folders and no others. */
  follow(folders: readonly string[]): void {
    const before = this.#watches;
    this.#watches = new Map(folders.map((folder) => [folder, before.get(folder) ?? this.#watch(folder)]));
    for (const [folder, watch] of before) if (!this.#watches.has(folder)) watch[Symbol.dispose]();
  }

  #watch(folder: string): Disposable {
    return this.#host.files.watch(folder, () => {
      this.#timer ??= this.#host.clock.after(gatherMs, () => {
        this.#timer = undefined;
        this.#changed();
      });
    });
  }

  [Symbol.dispose](): void {
    this.follow([]);
    this.#timer?.[Symbol.dispose]();
  }
}
